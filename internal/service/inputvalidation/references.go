package inputvalidation

import (
	"context"
	"fmt"
	"strings"
	"time"

	"entgo.io/ent/dialect/sql"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/ent/deploymentoutput"
	"slipway/ent/moduledefinition"
	"slipway/ent/moduleinstance"
	entrelease "slipway/ent/release"
	"slipway/internal/base/meter"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/store"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/inputvalues"
	"slipway/internal/pure/output"
)

const (
	// maxReferences bounds the instances that the values of one request choose.
	maxReferences = 1000
	// ReferenceBytes is about what it takes to look up one, as bytes of inputs.
	ReferenceBytes = 512
)

// references are the instances that values choose, looked up.
type references struct {
	// self is the instance that is deployed, "" if there is none yet.
	self string
	// former are the instances that the live values choose, nil if it does not matter whether a choice is a new one.
	former map[string]bool
	asked  map[string]bool
	found  map[string]*referencedInstance
}

// referencedInstance is an instance that there is, in the organization.
type referencedInstance struct {
	ID   string `sql:"id"`
	Type string `sql:"module_type"`
	// Shadowed instances are of a global module of whose type the organization has a module of its own.
	Shadowed bool `sql:"shadowed"`
	// Destroyed ones have an active deployment that destroys what is live.
	Destroyed bool `sql:"destroyed"`
	// ArchivedAt is when it was archived, nil if it was not.
	ArchivedAt       *time.Time `sql:"archived_at"`
	LiveDeploymentID *string    `sql:"live_deployment_id"`
	// Digest and Content are those of the live release, if they are asked for and there.
	Digest  *string `sql:"release_digest"`
	Content *string `sql:"release_content"`
	// Outputs are those of the live deployment, if they are asked for and there.
	Outputs *string `sql:"output_content"`

	values, outputs         *strictjson.Node
	readValues, readOutputs bool
}

// Reference is an instance that values choose, and what is live there.
type Reference struct {
	inputvalues.Reference
	// LiveDeploymentID is the deployment that was read, nil if nothing is live.
	LiveDeploymentID *string
	// ArchivedAt is when the instance was archived, nil if it was not.
	ArchivedAt *time.Time
}

// loadReferences looks up the instances that values choose, all in one statement, and lets the scope check references
// by what there is.
func (s *Service) loadReferences(
	ctx context.Context, list []inputprop.Property, values *strictjson.Node, scope *Scope,
) (*references, error) {
	r, err := s.lookUp(ctx, scope.instanceID, inputvalues.Choices(list, values, scope.env.Previous))
	r.former = map[string]bool{}
	for _, choice := range inputvalues.Choices(list, scope.env.Previous) {
		r.former[choice.ID] = true
	}
	scope.warnings = r.archived(inputvalues.Choices(list, values))
	scope.env.Reference, scope.env.Ref = r.check, r.value
	return r, err
}

// live returns references with what is live at the instances that they choose.
func (r *references) live(list []inputvalues.Reference) []Reference {
	var all []Reference
	for _, chosen := range list {
		with := Reference{Reference: chosen}
		if i := r.found[chosen.InstanceID]; i != nil {
			with.LiveDeploymentID, with.ArchivedAt = i.LiveDeploymentID, i.ArchivedAt
		}
		all = append(all, with)
	}
	return all
}

// lookUp looks up the first of the instances that values choose. self is the instance that is deployed, "" for none.
func (c *SchemaChecker) lookUp(ctx context.Context, self string, choices []inputvalues.Choice) (*references, error) {
	r := &references{self: self, asked: map[string]bool{}, found: map[string]*referencedInstance{}}
	var ids, inputs, outputs []string
	for _, choice := range choices[:min(len(choices), maxReferences)] {
		r.asked[choice.ID] = true
		ids = append(ids, choice.ID)
		if choice.ReadsInput {
			inputs = append(inputs, choice.ID)
		}
		if choice.ReadsOutput {
			outputs = append(outputs, choice.ID)
		}
	}

	if len(ids) == 0 {
		return r, nil
	}
	if err := meter.Spend(ctx, meter.Inputs, ReferenceBytes*len(ids)); err != nil {
		return r, err
	}

	var found []*referencedInstance
	err := c.Store.Client.ModuleInstance.Query().Where(moduleinstance.IDIn(ids...)).
		Modify(func(s *sql.Selector) { joinReferenced(s, inputs, outputs) }).Scan(ctx, &found)

	for _, i := range found {
		r.found[i.ID] = i
	}

	return r, err
}

// joinReferenced selects what a reference is checked by; the releases and the outputs of what is live only of the
// instances that they are to be read of. Every joined row is of the same organization; a module may be global.
func joinReferenced(s *sql.Selector, inputs, outputs []string) {
	owned := func(t *sql.SelectTable, on ...*sql.Predicate) *sql.Predicate {
		return sql.And(append(on, sql.ColumnsEQ(t.C("organization_id"), s.C("organization_id")))...)
	}
	d, own := sql.Table(moduledefinition.Table).As("d"), sql.Table(moduledefinition.Table).As("own")
	s.Join(d).OnP(sql.ColumnsEQ(d.C(moduledefinition.FieldID), s.C(moduleinstance.FieldModuleDefinitionID)))
	s.LeftJoin(own).OnP(owned(own, sql.ColumnsEQ(own.C(moduledefinition.FieldType), d.C(moduledefinition.FieldType)),
		sql.IsNull(d.C(moduledefinition.FieldOrganizationID))))
	x := sql.Table(deployment.Table).As("x")
	s.LeftJoin(x).OnP(owned(x, sql.ColumnsEQ(x.C(deployment.FieldModuleInstanceID), s.C(moduleinstance.FieldID)),
		sql.ExprP(store.InProgress(`"x".`)),
		sql.EQ(x.C(deployment.FieldTriggerSource), store.TriggerDestroy)))

	s.Select(s.C(moduleinstance.FieldID), s.C(moduleinstance.FieldLiveDeploymentID), s.C(moduleinstance.FieldArchivedAt))
	s.AppendSelectExprAs(sql.NotNull(x.C(deployment.FieldID)), "destroyed")
	s.AppendSelectAs(d.C(moduledefinition.FieldType), "module_type")
	s.AppendSelectExprAs(sql.NotNull(own.C(moduledefinition.FieldID)), "shadowed")

	if len(outputs) > 0 {
		o := sql.Table(deploymentoutput.Table).As("o")
		s.LeftJoin(
			o,
		).OnP(owned(o, sql.ColumnsEQ(o.C(deploymentoutput.FieldDeploymentID), s.C(moduleinstance.FieldLiveDeploymentID)),
			sql.In(s.C(moduleinstance.FieldID), anys(outputs)...)))
		s.AppendSelectAs(o.C(deploymentoutput.FieldContent), "output_content")
	}

	if len(inputs) == 0 {
		return
	}
	l, r := sql.Table(deployment.Table).As("l"), sql.Table(entrelease.Table).As("r")
	s.LeftJoin(l).OnP(owned(l, sql.ColumnsEQ(l.C(deployment.FieldID), s.C(moduleinstance.FieldLiveDeploymentID)),
		sql.In(s.C(moduleinstance.FieldID), anys(inputs)...)))
	s.LeftJoin(r).OnP(owned(r, sql.ColumnsEQ(r.C(entrelease.FieldID), l.C(deployment.FieldReleaseID))))
	s.AppendSelectAs(r.C(entrelease.FieldDigest), "release_digest")
	s.AppendSelectAs(r.C(entrelease.FieldContent), "release_content")
}

func anys(ids []string) []any {
	list := make([]any, len(ids))
	for i, id := range ids {
		list[i] = id
	}
	return list
}

// check returns why a reference to a module type may not choose an instance, "" if it may, and whether it was looked
// up. An organization's module goes before a global one of the same type. What is absent and what is another
// organization's are refused alike.
func (r *references) check(instanceID, moduleType string) (flaw string, known bool) {
	if !r.asked[instanceID] {
		return fmt.Sprintf("must be among the first %d instances that the values choose, found more", maxReferences), false
	}
	return r.flaw(instanceID, moduleType), true
}

func (r *references) flaw(instanceID, moduleType string) string {
	i := r.found[instanceID]
	switch {
	case instanceID == r.self:
		return "must be another instance than the one that is deployed"
	case i == nil:
		return fmt.Sprintf("must be an instance of the organization, of a module of the type %s; there is none with the id "+
			"%s", moduleType, instanceID)
	case i.Type != moduleType:
		return fmt.Sprintf("must be an instance of a module of the type %s, found one of the type %s", moduleType, i.Type)
	case i.Shadowed:
		return fmt.Sprintf("must be an instance of the organization's own module of the type %s, found one of the global "+
			"module", moduleType)
	case i.ArchivedAt != nil && r.former != nil && !r.former[instanceID]:
		return "must be an instance that is not archived, found one that is"
	case i.Destroyed:
		return "must be an instance that is not about to be destroyed, found one of which an active deployment destroys " +
			"what is live"
	default:
		return ""
	}
}

// archived returns a warning of each choice of an instance that has been archived since it was deployed with.
func (r *references) archived(choices []inputvalues.Choice) (warnings []inputprop.Warning) {
	for _, choice := range choices {
		if i := r.found[choice.ID]; i != nil && i.ArchivedAt != nil && r.former[choice.ID] {
			warnings = append(warnings, inputprop.Warning{Pointer: choice.Pointer, Rule: "reference_archived",
				Message: fmt.Sprintf("chooses the instance %s, which has been archived since", choice.ID)})
		}
	}
	return warnings
}

// value returns what a chosen instance has at a path: input.<id> from its live release, stack.output.<name> from what
// its live deployment has reported.
func (r *references) value(ctx context.Context, instanceID, path string) (*strictjson.Node, bool, error) {
	i := r.found[instanceID]
	if i == nil || i.LiveDeploymentID == nil {
		return nil, false, inputvalues.ErrNotLive
	}
	if name, ok := strings.CutPrefix(path, inputprop.RefOutput); ok {
		value, err := i.output(ctx, name)
		return value, value != nil, err
	}
	if err := i.open(ctx); err != nil || i.values == nil {
		return nil, false, err
	}
	value := i.values.Get(strings.TrimPrefix(path, inputprop.RefInput))
	return value, value != nil, nil
}

// missing is value for whoever looks only for outputs that were not reported.
func (r *references) missing(ctx context.Context, instanceID, path string) (*strictjson.Node, bool, error) {
	if strings.HasPrefix(path, inputprop.RefOutput) {
		if _, _, err := r.value(ctx, instanceID, path); err != nil {
			return nil, false, err
		}
	}
	return r.unread(ctx, instanceID, path)
}

// unread is value for whoever does not look into what an instance has, and needs only that something is live there.
func (r *references) unread(_ context.Context, instanceID, _ string) (*strictjson.Node, bool, error) {
	if i := r.found[instanceID]; i == nil || i.LiveDeploymentID == nil {
		return nil, false, inputvalues.ErrNotLive
	}
	return nil, false, inputvalues.ErrUnknownRef
}

// open reads the live release once; there are no values if it is not stored any more or not what was stored.
func (i *referencedInstance) open(ctx context.Context) error {
	if i.readValues || i.Digest == nil {
		return nil
	}
	l, err := readRelease(ctx, &ent.Release{Digest: *i.Digest, Content: *i.Content})
	if l != nil {
		i.values = l.values
	}
	i.readValues = err == nil
	return err
}

// output returns an output of the live deployment, or a *inputvalues.MissingOutput.
func (i *referencedInstance) output(ctx context.Context, name string) (*strictjson.Node, error) {
	if err := i.openOutputs(ctx); err != nil {
		return nil, err
	}
	if i.outputs == nil {
		return nil, &inputvalues.MissingOutput{Why: fmt.Sprintf(
			"whose live deployment has reported no outputs, so no %s: deploy it again by a runner that reports them", name)}
	}
	if value := i.outputs.Get(name); value != nil {
		return value, nil
	}
	there := "it has none that is kept"
	if len(i.outputs.Keys) > 0 {
		there = "it has " + output.Names(i.outputs.Keys)
	}
	return nil, &inputvalues.MissingOutput{Why: fmt.Sprintf("whose live deployment has no output %s; %s", name, there)}
}

// openOutputs reads the outputs of the live deployment once; nil if none were reported.
func (i *referencedInstance) openOutputs(ctx context.Context) error {
	if i.readOutputs || i.Outputs == nil {
		return nil
	}
	if err := meter.Decode(ctx, meter.Inputs, *i.Outputs); err != nil {
		return err
	}
	outputs, err := strictjson.ParseStored([]byte(*i.Outputs))
	i.outputs, i.readOutputs = outputs, err == nil
	return err
}
