package inputvalidation

import (
	"context"
	"fmt"
	"slices"

	"slipway/ent"
	"slipway/ent/moduleinstance"
	"slipway/internal/fault"
	"slipway/internal/inputprop"
	"slipway/internal/meter"
	"slipway/internal/strictjson"
)

// OwnArtifact is, among the inputs that an instance keeps of its own, the artifact.
const OwnArtifact = "artifact"

// Promotion is what was given to a deployment, for another instance of its module.
type Promotion struct {
	From *ent.Deployment
	To   *ent.ModuleInstance
	// Live is the live deployment of To, nil for none.
	Live *ent.Deployment
	// Inputs are the inputs of the version that is promoted.
	Inputs []inputprop.Property
	// Values are given anew: of the inputs that To keeps of its own, and of references. They are an object, or nil.
	Values *strictjson.Node
}

// Promote returns what counts as given for a promotion, and what is wrong with the values that are given anew, at a place.
// What To keeps of its own, and what it remembers of immutable inputs, stays as it is there; a reference becomes the instance
// of the same name and module in its environment. It fails with DeploymentInputsUnknown.
func (s *Service) Promote(ctx context.Context, p Promotion, at string) (*Taken, []fault.Violation, error) {
	given, err := s.givenTo(ctx, p.From)
	if err != nil {
		return nil, nil, err
	}
	t := &Taken{From: p.From, keys: map[string]bool{}, bytes: len(given.JSON())}
	level := inputprop.NewLevel(p.Inputs)
	violations := p.checkValues(level, at)
	if len(violations) > 0 {
		return t, violations, nil
	}
	own, err := s.ownValues(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	held, err := s.baseline(ctx, p.To)
	if err != nil {
		return nil, nil, err
	}
	t.Values = &strictjson.Node{Kind: strictjson.Object}
	heldValue, anew := memberOf(held), memberOf(p.Values)
	isOwn := func(key string) bool { return slices.Contains(p.To.OwnInputs, key) }
	for i, key := range given.Keys {
		input := level.ByID[key]
		isHeld := input != nil && input.Traits.Immutable && heldValue(key) != nil
		if anew(key) != nil || isOwn(key) || isHeld {
			continue
		}
		value, err := s.promoted(ctx, input, given.Items[i], p.To)
		switch {
		case err != nil:
			return nil, nil, err
		case value == nil:
			violations = append(violations, fault.Violation{Pointer: at + fault.Pointer(key), Rule: "reference",
				Message: fmt.Sprintf("must be given: the environment %s has no instance of the name and the module of %.60q", p.To.EnvironmentID, given.Items[i].Text)})
		default:
			t.take(key, value)
		}
	}
	for i, key := range own.Keys {
		if anew(key) == nil && isOwn(key) {
			t.take(key, own.Items[i])
		}
	}
	if p.Values != nil {
		for i, key := range p.Values.Keys {
			t.Values.Append(key, p.Values.Items[i])
		}
	}
	return t, violations, nil
}

// take adds a value that comes from there.
func (t *Taken) take(key string, value *strictjson.Node) {
	t.keys[key] = true
	t.Values.Append(key, value)
}

// promoted returns what a value of an input becomes at another instance, nil for a reference to what is not there.
func (s *Service) promoted(ctx context.Context, input *inputprop.LevelInput, value *strictjson.Node, to *ent.ModuleInstance) (*strictjson.Node, error) {
	if !isReference(input) || value.Kind != strictjson.String {
		return value, nil
	}
	return s.counterpart(ctx, value, to)
}

// checkValues returns what is wrong with what is given anew: only what the instance keeps of its own, and references, may be.
func (p Promotion) checkValues(level *inputprop.Level, at string) (violations []fault.Violation) {
	switch {
	case p.Values == nil:
		return nil
	case p.Values.Kind != strictjson.Object:
		return []fault.Violation{{Pointer: at, Rule: "type", Message: fmt.Sprintf("must be an object, found %s", strictjson.Show(p.Values))}}
	}
	for _, key := range p.Values.Keys {
		if !slices.Contains(p.To.OwnInputs, key) && !isReference(level.ByID[key]) {
			violations = append(violations, fault.Violation{Pointer: at + fault.Pointer(key), Rule: "not_own",
				Message: "must not be given anew: what is promoted has its value, and it is neither a reference nor among the instance's own inputs"})
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

// counterpart returns a reference to the instance of the same name and module in the environment of another, nil where there
// is none.
func (s *Service) counterpart(ctx context.Context, reference *strictjson.Node, to *ent.ModuleInstance) (*strictjson.Node, error) {
	if err := meter.Spend(ctx, meter.Inputs, 2*referenceBytes); err != nil {
		return nil, err
	}
	chosen, err := s.Store.Client.ModuleInstance.Query().Where(moduleinstance.ID(reference.Text)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	there, err := s.Store.Client.ModuleInstance.Query().Where(
		moduleinstance.EnvironmentID(to.EnvironmentID), moduleinstance.Name(chosen.Name),
		moduleinstance.ModuleDefinitionID(chosen.ModuleDefinitionID), moduleinstance.ArchivedAtIsNil()).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &strictjson.Node{Kind: strictjson.String, Text: there.ID}, nil
}

// memberOf returns the members of an object by their names; nil has none.
func memberOf(n *strictjson.Node) func(string) *strictjson.Node {
	if n == nil {
		return func(string) *strictjson.Node { return nil }
	}
	return n.Index()
}

func isReference(input *inputprop.LevelInput) bool {
	return input != nil && input.Traits.ModuleType != ""
}
