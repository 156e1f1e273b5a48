package inputvalidation

import (
	"context"
	"fmt"
	"slices"

	"entgo.io/ent/dialect/sql"

	"slipway/ent"
	"slipway/ent/moduleinstance"
	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/inputvalues"
)

// OwnArtifact is, among the inputs that an instance keeps of its own, the artifact.
const OwnArtifact = "artifact"

// Promotion is what was given to a deployment, for another instance of its module.
type Promotion struct {
	From *ent.Deployment
	To   *ent.ModuleInstance
	// Live is the live deployment of To, nil for none.
	Live *ent.Deployment
	// Inputs are the inputs of the version that is promoted, and Scope is that of To.
	Inputs []inputprop.Property
	Scope  *Scope
	// Values are given anew: of the inputs that To keeps of its own, and of references. They are an object, or nil.
	Values *strictjson.Node
}

// Promote returns what counts as given for a promotion, and what is wrong with the values that are given anew, at a
// place. What To keeps of its own, and the immutable inputs of which it has values, stay as they are there; a reference
// becomes the instance of the same name and module in its environment. It fails with DeploymentInputsUnknown.
func (s *Service) Promote(ctx context.Context, p Promotion, at string) (*Taken, []fault.Violation, error) {
	given, err := s.givenTo(ctx, p.From)
	if err != nil {
		return nil, nil, err
	}

	t := &Taken{From: p.From, keys: map[string]bool{}, bytes: len(given.JSON())}
	if violations := p.checkValues(at); len(violations) > 0 {
		return t, violations, nil
	}
	own, err := s.ownValues(ctx, p)
	if err != nil {
		return nil, nil, err
	}

	anew, isOwn := memberOf(p.Values), func(key string) bool { return slices.Contains(p.To.OwnInputs, key) }
	brought := membersOf(given, func(key string) bool { return anew(key) == nil && !isOwn(key) })
	counterparts, err := s.counterparts(ctx, inputvalues.Choices(p.Inputs, brought), p.To)
	if err != nil {
		return nil, nil, err
	}

	t.Values = &strictjson.Node{Kind: strictjson.Object}
	brought, violations, err := inputvalues.Promoted(
		ctx, p.Inputs, brought, p.Scope.env.Previous, at, func(id string) string { return counterparts[id] },
	)
	if err != nil {
		return nil, nil, err
	}

	for _, part := range []*strictjson.Node{
		brought, membersOf(own, func(key string) bool { return anew(key) == nil && isOwn(key) }),
	} {
		for i, key := range part.Keys {
			t.keys[key] = true
			t.Values.Append(key, part.Items[i])
		}
	}

	if p.Values != nil {
		for i, key := range p.Values.Keys {
			t.Values.Append(key, p.Values.Items[i])
		}
	}

	return t, violations, nil
}

// checkValues returns what is wrong with what is given anew: only what the instance keeps of its own, and references,
// may be.
func (p Promotion) checkValues(at string) (violations []fault.Violation) {
	level := inputprop.NewLevel(p.Inputs)
	switch {
	case p.Values == nil:
		return nil
	case p.Values.Kind != strictjson.Object:
		return []fault.Violation{
			{Pointer: at, Rule: "type", Message: fmt.Sprintf("must be an object, found %s", strictjson.Show(p.Values))},
		}
	}
	for _, key := range p.Values.Keys {
		if !slices.Contains(p.To.OwnInputs, key) && (level.ByID[key] == nil || level.ByID[key].Traits.ModuleType == "") {
			violations = append(violations, fault.Violation{Pointer: at + fault.Pointer(key), Rule: "not_own",
				Message: "must not be given anew: what is promoted has its value, and it is neither a reference nor among the " +
					"instance's own inputs"})
		}
	}
	return violations
}

// ownValues returns what was given to the live deployment of an instance that keeps inputs of its own.
func (s *Service) ownValues(ctx context.Context, p Promotion) (*strictjson.Node, error) {
	none := &strictjson.Node{Kind: strictjson.Object}
	if p.Live == nil || !slices.ContainsFunc(p.To.OwnInputs, func(key string) bool { return key != OwnArtifact }) {
		return none, nil
	}
	return s.givenTo(ctx, p.Live)
}

// counterparts returns, for the instances that are chosen, those of the same name and module in the environment of
// another instance, as far as they are there and not archived.
func (s *Service) counterparts(
	ctx context.Context, chosen []inputvalues.Choice, to *ent.ModuleInstance,
) (map[string]string, error) {
	ids := make([]string, 0, len(chosen))
	for _, choice := range chosen[:min(len(chosen), maxReferences)] {
		ids = append(ids, choice.ID)
	}

	if len(ids) == 0 {
		return nil, nil
	}
	if err := meter.Spend(ctx, meter.Inputs, ReferenceBytes*len(ids)); err != nil {
		return nil, err
	}

	var found []struct {
		ID      string `sql:"id"`
		ThereID string `sql:"there_id"`
	}
	err := s.Store.Client.ModuleInstance.Query().Where(moduleinstance.IDIn(ids...)).Modify(func(q *sql.Selector) {
		there := sql.Table(moduleinstance.Table).As("there")
		q.Join(there).OnP(sql.And(
			sql.ColumnsEQ(there.C(moduleinstance.FieldOrganizationID), q.C(moduleinstance.FieldOrganizationID)),
			sql.ColumnsEQ(there.C(moduleinstance.FieldName), q.C(moduleinstance.FieldName)),
			sql.ColumnsEQ(there.C(moduleinstance.FieldModuleDefinitionID), q.C(moduleinstance.FieldModuleDefinitionID)),
			sql.EQ(there.C(moduleinstance.FieldEnvironmentID), to.EnvironmentID),
			sql.IsNull(there.C(moduleinstance.FieldArchivedAt))))
		q.Select(q.C(moduleinstance.FieldID)).AppendSelectAs(there.C(moduleinstance.FieldID), "there_id")
	}).Scan(ctx, &found)

	counterparts := make(map[string]string, len(found))
	for _, f := range found {
		counterparts[f.ID] = f.ThereID
	}

	return counterparts, err
}

// memberOf returns the members of an object by their names; nil has none.
func memberOf(n *strictjson.Node) func(string) *strictjson.Node {
	if n == nil {
		return func(string) *strictjson.Node { return nil }
	}
	return n.Index()
}

// membersOf returns the object of those members that are kept.
func membersOf(n *strictjson.Node, keep func(key string) bool) *strictjson.Node {
	kept := &strictjson.Node{Kind: strictjson.Object}
	for i, key := range n.Keys {
		if keep(key) {
			kept.Append(key, n.Items[i])
		}
	}
	return kept
}
