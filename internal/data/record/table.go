package record

import (
	"strconv"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"slipway/ent"
	"slipway/ent/approval"
	"slipway/ent/auditevent"
	"slipway/ent/defaultvaluedefinition"
	"slipway/ent/deployment"
	"slipway/ent/deploymentlog"
	"slipway/ent/deploymentreference"
	"slipway/ent/environment"
	"slipway/ent/moduledefinition"
	"slipway/ent/moduleinstance"
	"slipway/ent/moduleversion"
	"slipway/ent/organization"
	"slipway/ent/project"
	"slipway/ent/quarantine"
	"slipway/ent/release"
	"slipway/ent/rule"
	"slipway/ent/token"
	"slipway/internal/base/id"
	"slipway/internal/data/store"
)

// The columns that every table has, but for organizationColumn, and for createdAtColumn where lists go by a sequence.
const (
	idColumn           = "id"
	createdAtColumn    = "created_at"
	organizationColumn = "organization_id"
	nameKeyColumn      = "name_key"
)

// entity is a row of ent's, with the methods that are generated for its columns.
type entity interface {
	// ScanTarget returns what a value of a column is scanned into.
	ScanTarget(column string) any
	// ColumnValue returns the value of a column, nil for null.
	ColumnValue(column string) any
}

// Table has the records of one kind.
type Table[T any] struct {
	kind  id.Kind
	name  string
	class store.Class
	all   selection
	// bySequence reports whether lists go by the column of that name, the first at the start, and not by when records
	// were created.
	bySequence bool
	// narrow reports whether its records may be read with some of their columns.
	narrow bool
	// entity returns the entity that a record is.
	entity func(*T) entity
	// position returns when a record was created, and its id; by sequence, no time and the digits of that.
	position func(*T) (time.Time, string)
	// texts are those of the statements that were used last.
	texts *lru.Cache[shape, string]
}

// The tables of the records whose columns go by what an operation asks for.
var (
	Projects = newTable(id.Project, project.Table, ent.TypeProject, project.Columns, true,
		func(p *Project) entity { return (*ent.Project)(p) },
		func(p *Project) (time.Time, string) { return p.CreatedAt, p.ID })
	Environments = newTable(id.Environment, environment.Table, ent.TypeEnvironment, environment.Columns, true,
		func(e *Environment) entity { return (*ent.Environment)(e) },
		func(e *Environment) (time.Time, string) { return e.CreatedAt, e.ID })
	ModuleDefinitions = newTable(
		id.ModuleDefinition, moduledefinition.Table, ent.TypeModuleDefinition, moduledefinition.Columns, true,
		func(d *ModuleDefinition) entity { return (*ent.ModuleDefinition)(d) },
		func(d *ModuleDefinition) (time.Time, string) { return d.CreatedAt, d.ID })
	ModuleVersions = newTable(id.ModuleVersion, moduleversion.Table, ent.TypeModuleVersion, moduleversion.Columns, true,
		func(v *ModuleVersion) entity { return (*ent.ModuleVersion)(v) },
		func(v *ModuleVersion) (time.Time, string) { return v.CreatedAt, v.ID })
	ModuleInstances = newTable(
		id.ModuleInstance, moduleinstance.Table, ent.TypeModuleInstance, moduleinstance.Columns, true,
		func(i *ModuleInstance) entity { return (*ent.ModuleInstance)(i) },
		func(i *ModuleInstance) (time.Time, string) { return i.CreatedAt, i.ID })
	Releases = newTable(id.Release, release.Table, ent.TypeRelease, release.Columns, true,
		func(r *Release) entity { return (*ent.Release)(r) },
		func(r *Release) (time.Time, string) { return r.CreatedAt, r.ID })
	Deployments = newTable(id.Deployment, deployment.Table, ent.TypeDeployment, deployment.Columns, true,
		func(d *Deployment) entity { return (*ent.Deployment)(d) },
		func(d *Deployment) (time.Time, string) { return d.CreatedAt, d.ID })
	DefaultValueDefinitions = newTable(
		id.DefaultValueDefinition, defaultvaluedefinition.Table, ent.TypeDefaultValueDefinition,
		defaultvaluedefinition.Columns, true,
		func(d *DefaultValueDefinition) entity { return (*ent.DefaultValueDefinition)(d) },
		func(d *DefaultValueDefinition) (time.Time, string) { return d.CreatedAt, d.ID })
)

// The tables whose records are always whole, and therefore entities.
var (
	Organizations = newTable(id.Organization, organization.Table, ent.TypeOrganization, organization.Columns, false,
		func(o *ent.Organization) entity { return o },
		func(o *ent.Organization) (time.Time, string) { return o.CreatedAt, o.ID })
	Tokens = newTable(id.Token, token.Table, ent.TypeToken, token.Columns, false,
		func(t *ent.Token) entity { return t },
		func(t *ent.Token) (time.Time, string) { return t.CreatedAt, t.ID })
	AuditEvents = newTable(id.AuditEvent, auditevent.Table, ent.TypeAuditEvent, auditevent.Columns, false,
		func(a *ent.AuditEvent) entity { return a },
		func(e *ent.AuditEvent) (time.Time, string) { return e.CreatedAt, e.ID })
	Rules = newTable(id.Rule, rule.Table, ent.TypeRule, rule.Columns, false,
		func(r *ent.Rule) entity { return r },
		func(r *ent.Rule) (time.Time, string) { return r.CreatedAt, r.ID })
	Approvals = newTable(id.Approval, approval.Table, ent.TypeApproval, approval.Columns, false,
		func(a *ent.Approval) entity { return a },
		func(a *ent.Approval) (time.Time, string) { return a.CreatedAt, a.ID })
	Quarantines = newTable(id.Quarantine, quarantine.Table, ent.TypeQuarantine, quarantine.Columns, false,
		func(q *ent.Quarantine) entity { return q },
		func(q *ent.Quarantine) (time.Time, string) { return q.CreatedAt, q.ID })
)

// LogLines are the lines of logs. Lists of them have those of one deployment.
var LogLines = newTable("", deploymentlog.Table, ent.TypeDeploymentLog, deploymentlog.Columns, false,
	func(d *ent.DeploymentLog) entity { return d },
	func(l *ent.DeploymentLog) (time.Time, string) { return time.Time{}, strconv.FormatInt(l.Sequence, 10) }).inSequence()

// References are those of deployments. Lists of them have those of one deployment.
var References = newTable(
	"", deploymentreference.Table, ent.TypeDeploymentReference, deploymentreference.Columns, false,
	func(r *ent.DeploymentReference) entity { return r },
	func(r *ent.DeploymentReference) (time.Time, string) {
		return time.Time{}, strconv.FormatInt(r.Sequence, 10)
	}).inSequence()

// maxTexts bounds the texts of a table's statements that are kept: operations may ask for any set of columns.
const maxTexts = 256

func newTable[T any](
	kind id.Kind, name, typeName string, columns []string, narrow bool,
	entityOf func(*T) entity, position func(*T) (time.Time, string),
) *Table[T] {
	texts, err := lru.New[shape, string](maxTexts)
	if err != nil {
		panic(err) // maxTexts is above 0
	}
	return &Table[T]{
		kind: kind, name: name, class: store.Classes[typeName], all: newSelection(columns), narrow: narrow,
		entity: entityOf, position: position, texts: texts,
	}
}

// inSequence has the lists of the table go by the column of that name.
func (t *Table[T]) inSequence() *Table[T] {
	t.bySequence = true
	return t
}
