package admission

import (
	"context"
	"fmt"
	"strings"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/optional"
	"slipway/internal/data/store"
	"slipway/internal/pure/ecs"
	"slipway/internal/pure/gate"
	"slipway/internal/service/access"
	"slipway/internal/service/deployment/releases"
	"slipway/internal/service/deployment/state"
	"slipway/internal/service/rule"
)

// Source is a deployment that may be replayed, and everything that decides whether it may, but for what its release
// ships: read in one statement, however many there are.
type Source struct {
	ID, ProjectID, EnvironmentID, TriggerSource string

	Status    deployment.Status
	ReleaseID *string

	// Quarantine is the one of its release that is open, and Setbacks what the cloud says against it.
	Quarantine releases.OpenQuarantineRow
	Setbacks   *string
	// reputation is what speaks against it, with what it was promoted from.
	reputation releases.Reputation

	// ActiveID and what follows are of the instance's active deployment.
	ActiveID     *string
	ActiveStatus *deployment.Status
	ActiveBy     *string
	ActiveAt     *time.Time
	CancelAt     *time.Time
	CancelBy     *string

	// ModuleInstanceID is its instance, ServiceARN the service that it names, and ServiceOwnerID the instance that this
	// belongs to, nil if that is not written down.
	ModuleInstanceID           string
	ServiceARN, ServiceOwnerID *string

	// ArchivedAt is when the instance was archived, nil if it was not.
	ArchivedAt *time.Time

	// ForcedID is the deployment that was canceled by force since the instance's live one, and Drift how what is there
	// differs from what that made.
	ForcedID, Drift *string

	// IsRuled is whether its organization has rules in force, Waiting how many deployments of its instance wait for
	// approvals, and PromotedFrom what it was promoted from, nil for nothing.
	IsRuled      bool
	PromotedFrom *string
	Waiting      int
	// LiveID is the instance's live deployment.
	LiveID *string
	// ReplacesLive is whether the release is live still that was so when it began to wait for approvals; true for one that
	// does not wait.
	ReplacesLive bool

	// What follows is read only for one that is to be replayed. Rules are those in force where it is, as rule.Decode reads
	// them. Digest and Content are of the release, nil if none is stored; Version is the name of its module version, whose
	// id, "" if no release is stored, and that of the instance's module stand behind them.
	Rules                                     *string
	OrganizationID, DeploymentType, CreatedBy string
	CompletedAt                               *time.Time
	Digest, Content, Version                  *string
	ModuleDefinitionID, ModuleVersionID       string
	ResourceARN, ResourceName, GivenFrom      *string
	Data, LiveData                            ecs.Column
}

// column is what a source has of a column: its name in the statement, and where it is read to.
type column struct {
	name string
	of   func(*Source) any
}

// sourceColumns are the columns of every source, replayColumns those of one that is to be replayed besides.
var (
	sourceColumns = []column{
		{`"d"."id"`, func(s *Source) any { return &s.ID }},
		{`"d"."project_id"`, func(s *Source) any { return &s.ProjectID }},
		{`"d"."environment_id"`, func(s *Source) any { return &s.EnvironmentID }},
		{`"d"."trigger_source"`, func(s *Source) any { return &s.TriggerSource }},
		{`"d"."status"`, func(s *Source) any { return &s.Status }},
		{`"d"."release_id"`, func(s *Source) any { return &s.ReleaseID }},
		{`"q"."id"`, func(s *Source) any { return &s.Quarantine.ID }},
		{`"q"."release_id"`, func(s *Source) any { return &s.Quarantine.ReleaseID }},
		{`"q"."reason"`, func(s *Source) any { return &s.Quarantine.Reason }},
		{`"q"."created_by"`, func(s *Source) any { return &s.Quarantine.By }},
		{`"q"."created_at"`, func(s *Source) any { return &s.Quarantine.At }},
		{`"q"."until"`, func(s *Source) any { return &s.Quarantine.Until }},
		{`"d"."setbacks"`, func(s *Source) any { return &s.Setbacks }},
		{`"a"."id"`, func(s *Source) any { return &s.ActiveID }},
		{`"a"."status"`, func(s *Source) any { return &s.ActiveStatus }},
		{`"a"."created_by"`, func(s *Source) any { return &s.ActiveBy }},
		{`"a"."created_at"`, func(s *Source) any { return &s.ActiveAt }},
		{`"a"."cancel_requested_at"`, func(s *Source) any { return &s.CancelAt }},
		{`"a"."cancel_requested_by"`, func(s *Source) any { return &s.CancelBy }},
		{`"d"."module_instance_id"`, func(s *Source) any { return &s.ModuleInstanceID }},
		{`"d"."service_arn"`, func(s *Source) any { return &s.ServiceARN }},
		{`"s"."module_instance_id"`, func(s *Source) any { return &s.ServiceOwnerID }},
		{`"i"."forced_deployment_id"`, func(s *Source) any { return &s.ForcedID }},
		{`"i"."drift_message"`, func(s *Source) any { return &s.Drift }},
		{`"i"."archived_at"`, func(s *Source) any { return &s.ArchivedAt }},
		{`"i"."live_deployment_id"`, func(s *Source) any { return &s.LiveID }},
		{replacesHere, func(s *Source) any { return &s.ReplacesLive }},
		{rule.Any(`"d"."organization_id"`), func(s *Source) any { return &s.IsRuled }},
		{`"d"."promoted_from"`, func(s *Source) any { return &s.PromotedFrom }},
		{waitingCount(`"d"."organization_id"`, `"d"."module_instance_id"`), func(s *Source) any { return &s.Waiting }},
	}
	replayColumns = []column{
		{rulesHere, func(s *Source) any { return &s.Rules }},
		{`"d"."organization_id"`, func(s *Source) any { return &s.OrganizationID }},
		{`"d"."deployment_type"`, func(s *Source) any { return &s.DeploymentType }},
		{`"d"."created_by"`, func(s *Source) any { return &s.CreatedBy }},
		{`"d"."completed_at"`, func(s *Source) any { return &s.CompletedAt }},
		{`"r"."digest"`, func(s *Source) any { return &s.Digest }},
		{`"r"."content"`, func(s *Source) any { return &s.Content }},
		{`"v"."version"`, func(s *Source) any { return &s.Version }},
		{`COALESCE("r"."module_version_id", '')`, func(s *Source) any { return &s.ModuleVersionID }},
		{`"i"."module_definition_id"`, func(s *Source) any { return &s.ModuleDefinitionID }},
		{`"d"."resource_arn"`, func(s *Source) any { return &s.ResourceARN }},
		{`"d"."resource_name"`, func(s *Source) any { return &s.ResourceName }},
		{`"d"."given_from"`, func(s *Source) any { return &s.GivenFrom }},
		{`"d"."data"`, func(s *Source) any { return &s.Data }},
		{`"l"."data"`, func(s *Source) any { return &s.LiveData }},
	}
)

// What belongs to a source, and to one that is to be replayed besides. Every joined row is of the same organization;
// the version, which may be global, is that of a release which is. That an active deployment was not started outside is
// said in the words of the index of the active ones.
var (
	sourceTables = ` FROM "deployments" AS "d"
LEFT JOIN "quarantines" AS "q" ON "q"."release_id" = "d"."release_id" AND "q"."lifted_at" IS NULL AND
"q"."organization_id" = "d"."organization_id"
LEFT JOIN "module_instances" AS "i" ON "i"."id" = "d"."module_instance_id" AND "i"."organization_id" =
"d"."organization_id"
LEFT JOIN "cloud_services" AS "s" ON "s"."service_arn" = "d"."service_arn" AND "s"."organization_id" =
"d"."organization_id"
LEFT JOIN "deployments" AS "a" ON "a"."module_instance_id" = "d"."module_instance_id" AND ` + store.InProgress(`"a".`) +
		`
	AND "a"."organization_id" = "d"."organization_id"`
	replayTables = `
LEFT JOIN "releases" AS "r" ON "r"."id" = "d"."release_id" AND "r"."organization_id" = "d"."organization_id"
LEFT JOIN "module_versions" AS "v" ON "v"."id" = "r"."module_version_id"
LEFT JOIN "deployments" AS "l" ON "l"."id" = "i"."live_deployment_id" AND "l"."organization_id" = "d"."organization_id"`
)

// sourceTexts are the statements that read the sources of a list of ids, and one that is to be replayed.
type sourceTexts struct{ list, replay string }

var (
	// by whether the database is PostgreSQL
	sourceTextsOf = map[bool]sourceTexts{false: newSourceTexts(false), true: newSourceTexts(true)}
	toReplay      = append(sourceColumns[:len(sourceColumns):len(sourceColumns)], replayColumns...)
)

// rulesHere and replacesHere are in the places of expressions of which each database has its own.
const rulesHere, replacesHere = "{rules}", "{replaces}"

func newSourceTexts(postgres bool) sourceTexts {
	expressions := strings.NewReplacer(
		rulesHere, rule.InForce(`"d"."organization_id"`, `"d"."project_id"`, `"d"."environment_id"`, postgres),
		replacesHere, `CASE WHEN "d"."status" = 'AWAITING_APPROVAL' THEN `+
			ReplacesLive(postgres, `"d"."organization_id"`, `"d"."module_instance_id"`, `"d"."replaces_id"`)+` ELSE true END`)
	return sourceTexts{
		list: expressions.Replace(
			"SELECT " + names(sourceColumns) + sourceTables + " WHERE " +
				store.Among(`"d"."id"`, `"d"."organization_id"`, postgres),
		),
		replay: expressions.Replace(
			"SELECT " + names(toReplay) + sourceTables + replayTables + ` WHERE "d"."id" = $1 AND "d"."organization_id" = $2`,
		),
	}
}

func names(columns []column) string {
	var all []string
	for _, c := range columns {
		all = append(all, c.name)
	}
	return strings.Join(all, ", ")
}

// scanSource reads a source of a row.
func scanSource(row store.Rows, columns []column) (*Source, error) {
	s := &Source{}
	targets := make([]any, len(columns))
	for i, c := range columns {
		targets[i] = c.of(s)
	}
	return s, row.Scan(targets...)
}

// ReadSources reads deployments with all that decides on a replay of them, but for what their releases ship.
func (s *Service) ReadSources(ctx context.Context, read store.Reader, ids []string) ([]*Source, error) {
	var found []*Source
	args := []any{s.Store.List(ids), store.Scope(actor.From(ctx))}
	err := read(ctx, sourceTextsOf[s.Store.Postgres()].list, args, func(row store.Rows) error {
		from, err := scanSource(row, sourceColumns)
		found = append(found, from)
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, s.addReputations(ctx, read, found)
}

// addReputations notes what speaks against sources. Only what was promoted takes a statement more.
func (s *Service) addReputations(ctx context.Context, read store.Reader, list []*Source) error {
	var promoted []string
	for _, from := range list {
		setbacks, err := releases.DecodeSetbacks(from.Setbacks)
		if err != nil {
			return err
		}
		from.reputation = releases.NewReputation(from.ReleaseID, setbacks, &from.Quarantine)
		if from.PromotedFrom != nil {
			promoted = append(promoted, from.ID)
		}
	}
	of, err := s.Releases.Reputations(ctx, read, promoted)
	for _, from := range list {
		if known, ok := of[from.ID]; ok {
			from.reputation = known
		}
	}
	return err
}

// FindSource reads a deployment that is to be replayed, or returns DeploymentNotFound.
func (s *Service) FindSource(ctx context.Context, tx *ent.Tx, sourceID string) (found *Source, err error) {
	if err := store.CheckID(id.Deployment, sourceID, fault.DeploymentNotFound); err != nil {
		return nil, err
	}
	read, args := store.InTx(tx), []any{sourceID, store.Scope(actor.From(ctx))}
	err = read(ctx, sourceTextsOf[s.Store.Postgres()].replay, args, func(row store.Rows) (err error) {
		found, err = scanSource(row, toReplay)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case found == nil:
		return nil, store.NotFound(sourceID, fault.DeploymentNotFound)
	}
	return found, s.addReputations(ctx, read, []*Source{found})
}

// Proposal returns what a replay of the source by a mode comes to at a time, as far as the source tells; its rules are
// still to be read.
func (s *Source) Proposal(m Mode, at time.Time) *Proposal {
	p := &Proposal{
		Operation: m.Operation, Place: actor.Place{ProjectID: s.ProjectID, EnvironmentID: s.EnvironmentID},
		InstanceID: s.ModuleInstanceID,
		Digest:     optional.OrZero(s.Digest), Content: optional.OrZero(s.Content), Live: optional.OrZero(s.LiveID),
		Active: s.active(), Waiting: s.Waiting,
		Facts: gate.Facts{Operation: m.Operation, SucceededHere: s.Status == deployment.StatusSUCCEEDED},
	}
	if q := s.reputation.Quarantine(at); q != nil {
		p.Quarantine = q.ID
	}
	p.TakenBack = s.takenBack()
	p.Warnings = s.concerns(m).Warnings("/id")
	return p
}

// ProposalWithRules is proposal with the rules that came with the source.
func (s *Source) ProposalWithRules(ctx context.Context, m Mode, at time.Time) (p *Proposal, err error) {
	p = s.Proposal(m, at)
	p.Rules, err = rule.Decode(ctx, s.Rules)
	return p, err
}

// PromotedTo returns what the source was promoted from, where a replay by a mode is judged by that; nil for nothing.
func (s *Source) PromotedTo(m Mode) *string {
	if m.Operation != gate.Redeploy {
		return nil
	}
	return s.PromotedFrom
}

// checkMay returns why an actor may not replay so where the source is, nil if it may.
func (s *Source) checkMay(a *actor.Actor, m Mode) error {
	return access.CheckIn(
		a, m.Permission, actor.Place{ProjectID: s.ProjectID, EnvironmentID: s.EnvironmentID}, m.forbidden,
	)
}

// TakenBack returns what the cloud did with it after its success, nil for nothing.
func (s *Source) takenBack() *ecs.Setback {
	if s.Status != deployment.StatusSUCCEEDED {
		return nil
	}
	return s.reputation.TakenBack()
}

// concerns are those of its instance, and that the cloud has taken it back, unless it is to be destroyed or the drift
// of the instance says so.
func (s *Source) concerns(m Mode) state.Concerns {
	c := state.Concerns{ForcedID: s.ForcedID, Drift: s.Drift}
	if m.Operation == gate.Destroy {
		return c
	}
	if back := s.takenBack(); back != nil && (s.Drift == nil || optional.OrZero(s.LiveID) != s.ID) {
		c.TakenBack = new(fmt.Sprintf("The deployment %s had succeeded, but %s", s.ID, state.CloudSays(back)))
	}
	return c
}

// Release returns its release, nil if none is stored.
func (s *Source) Release() *ent.Release {
	if s.Digest == nil {
		return nil
	}
	return &ent.Release{ID: *s.ReleaseID, Digest: *s.Digest, Content: *s.Content}
}

// active returns the active deployment of the instance, as far as InProgress describes it, or nil.
func (s *Source) active() *ent.Deployment {
	if s.ActiveID == nil {
		return nil
	}
	return &ent.Deployment{
		ID: *s.ActiveID, Status: *s.ActiveStatus, CreatedBy: *s.ActiveBy, CreatedAt: *s.ActiveAt,
		CancelRequestedAt: s.CancelAt, CancelRequestedBy: s.CancelBy,
	}
}

// ReplacesLive returns the condition that the release of the deployment that one replaces is the one that is live in
// its instance; the arguments are expressions of its columns.
func ReplacesLive(postgres bool, organization, instance, replaces string) string {
	equals := " IS "
	if postgres {
		equals = " IS NOT DISTINCT FROM "
	}
	return `(SELECT "o"."release_id" FROM "deployments" AS "o" WHERE "o"."id" = ` + replaces +
		` AND "o"."organization_id" = ` + organization + `)` +
		equals + `(SELECT "o"."release_id" FROM "module_instances" AS "i" JOIN "deployments" AS "o" ON "o"."id" =
"i"."live_deployment_id"
		AND "o"."organization_id" = "i"."organization_id" WHERE "i"."id" = ` + instance + ` AND "i"."organization_id" = ` +
		organization + `)`
}
