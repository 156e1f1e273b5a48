package inputvalidation

import (
	"context"
	"encoding/json"
	"fmt"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/meter"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/store"
	"slipway/internal/pure/inputprop"
)

const (
	// maxWithout is how many inputs may be left out of those that are taken over.
	maxWithout = 1000
	// maxTakenWarnings is how many inputs are named that are not taken over.
	maxTakenWarnings = 100
	// pointerOfSource is where a request has the deployment that values are taken over from.
	pointerOfSource = "/inputsFromDeploymentId"
)

// Takeover says that values are those which were given to an earlier deployment, as far as no others are given.
type Takeover struct {
	// InputsFrom is the id of the deployment, nil if nothing is taken over.
	InputsFrom *string
	// WithoutInputs are the ids of inputs that are not taken over.
	WithoutInputs []string
}

// Check returns what is wrong with the members, whatever there is to be taken over, where values are given besides, at
// a place. Values are nil for none.
func (o Takeover) Check(values *strictjson.Node, at string) (violations []fault.Violation) {
	switch {
	case o.InputsFrom == nil && len(o.WithoutInputs) > 0:
		return []fault.Violation{{Pointer: "/withoutInputs", Rule: "inputs_from", Message: "is for inputs that are taken " +
			"over: give inputsFromDeploymentId too, or leave it out"}}
	case len(o.WithoutInputs) > maxWithout:
		return []fault.Violation{{Pointer: "/withoutInputs", Rule: "max_items",
			Message: fmt.Sprintf("must name at most %d inputs, found %d", maxWithout, len(o.WithoutInputs))}}
	case values == nil || values.Kind != strictjson.Object:
		return nil
	}
	own := values.Index()
	for i, name := range o.WithoutInputs {
		if own(name) != nil {
			violations = append(violations, fault.Violation{Pointer: fmt.Sprintf("/withoutInputs/%d", i), Rule: "given",
				Message: "must not name an input that " + at[1:] + " gives a value for, found " + strictjson.Quote(name)})
		}
	}
	return violations
}

// Taken are values with what was taken over.
type Taken struct {
	// From is the deployment to which that was given.
	From *ent.Deployment
	// Values are what counts as given. What was given instead of an object is no values, and is left as it is.
	Values *strictjson.Node
	// Warnings are of inputs that are not taken over.
	Warnings []inputprop.Warning
	// keys are the inputs whose values come from there, and bytes how many bytes there were.
	keys  map[string]bool
	bytes int
}

// TakeOver returns values with what was given to the deployment that o names, as far as they have nothing themselves.
// The deployment has to be of a module; instanceID is the instance that would be deployed, "" for one that is not
// known. It fails with DeploymentNotFound, RequestInvalid for a deployment of another module, and
// DeploymentInputsUnknown.
func (s *Service) TakeOver(
	ctx context.Context, o Takeover, values *strictjson.Node, moduleID, instanceID string,
) (*Taken, error) {
	from, err := store.Find(ctx, s.Store.Client.Deployment.Get, id.Deployment, *o.InputsFrom, fault.DeploymentNotFound)
	if err != nil {
		return nil, err
	}

	if from.ModuleInstanceID != instanceID {
		other, err := s.Store.Client.ModuleInstance.Get(ctx, from.ModuleInstanceID)
		if err != nil {
			return nil, err
		}
		if other.ModuleDefinitionID != moduleID {
			return nil, fault.Invalid(fault.RequestInvalid, fault.Violation{Pointer: pointerOfSource, Rule: "other_module",
				Message: fmt.Sprintf("must be a deployment of the module %s, found one of %s", moduleID, other.ModuleDefinitionID)})
		}
	}

	given, err := s.givenTo(ctx, from)
	if err != nil {
		return nil, err
	}

	t := &Taken{From: from, Values: values, keys: map[string]bool{}}
	if values == nil || values.Kind == strictjson.Object {
		t.bytes = len(given.JSON())
		t.merge(given, values, o.WithoutInputs)
	}

	return t, nil
}

// givenTo returns what was given for the inputs of a deployment, or DeploymentInputsUnknown.
func (s *Service) givenTo(ctx context.Context, d *ent.Deployment) (*strictjson.Node, error) {
	if d.GivenFrom != nil {
		all, err := s.GivenInputs(ctx, []string{*d.GivenFrom})
		if err != nil {
			return nil, err
		}
		if text := all[*d.GivenFrom]; text != nil {
			if err := meter.Decode(ctx, meter.Inputs, text); err != nil {
				return nil, err
			}
			return strictjson.ParseStored(text)
		}
	}
	f := fault.New(fault.DeploymentInputsUnknown, "The inputs of the deployment %s were not recorded; send all inputs "+
		"with this request.", d.ID)
	f.Metadata = map[string]any{"deploymentId": d.ID}
	return nil, f
}

// GivenInputs returns what was given to deployments that were created, by their ids, as JSON. It is counted as work of
// the context's request.
func (s *Service) GivenInputs(ctx context.Context, ids []string) (map[string]json.RawMessage, error) {
	given := make(map[string]json.RawMessage, len(ids))
	args := []any{s.Store.List(ids), store.Scope(actor.From(ctx))}
	text := `SELECT "deployment_id", "content" FROM "given_inputs" WHERE ` +
		store.Among(`"deployment_id"`, `"organization_id"`, s.Store.Postgres())
	err := s.Store.Query(ctx, text, args, func(row store.Rows) error {
		var id, content string
		if err := row.Scan(&id, &content); err != nil {
			return err
		}
		given[id] = json.RawMessage(content)
		return meter.Decode(ctx, meter.Stored, content)
	})
	return given, err
}

// merge sets the values to what was given, each value that is given now in the place of the one that was, without what
// is to be left out.
func (t *Taken) merge(given, own *strictjson.Node, withoutInputs []string) {
	if own == nil {
		own = &strictjson.Node{Kind: strictjson.Object}
	}

	without := map[string]int{}
	for i, name := range withoutInputs {
		without[name] = i
	}

	ownValue := own.Index()
	t.Values = &strictjson.Node{Kind: strictjson.Object}
	for i, key := range given.Keys {
		if _, left := without[key]; left {
			delete(without, key)
			continue
		}
		value := ownValue(key)
		if value == nil {
			value, t.keys[key] = given.Items[i], true
		}
		t.Values.Append(key, value)
	}

	had := given.Index()
	for i, key := range own.Keys {
		if had(key) == nil {
			t.Values.Append(key, own.Items[i])
		}
	}

	for i, name := range withoutInputs {
		if at, unknown := without[name]; unknown && at == i {
			t.warn(
				fmt.Sprintf("/withoutInputs/%d", i), "input_not_given",
				"names an input that was not given to the deployment, "+strictjson.Quote(name),
			)
		}
	}
}

// Drop takes the values out of what was taken over that a version with a list of inputs has none for, and warns of
// each. It returns what is wrong with values, at a place, that are larger, with what is taken over, than any that may
// be given.
func (t *Taken) Drop(list []inputprop.Property, version, at string) []fault.Violation {
	if t.Values == nil || t.Values.Kind != strictjson.Object {
		return nil
	}
	level := inputprop.NewLevel(list)

	kept := &strictjson.Node{Kind: strictjson.Object}
	for i, key := range t.Values.Keys {
		input := level.ByID[key]
		if t.keys[key] && (input == nil || input.Traits.NoValue) {
			t.warn(pointerOfSource, "input_dropped", fmt.Sprintf(
				"has a value for %s, which the version %s has no input for: it is left out", strictjson.Quote(key), version))
			continue
		}
		kept.Append(key, t.Values.Items[i])
	}

	t.Values = kept
	if most, size := max(strictjson.MaxBytes, t.bytes), len(kept.JSON()); size > most {
		return []fault.Violation{{Pointer: at, Rule: "max_size",
			Message: fmt.Sprintf("must have at most %d bytes with what is taken over, found %d", most, size)}}
	}
	return nil
}

// warn adds a warning. If there are many, the last says that there are more.
func (t *Taken) warn(pointer, rule, message string) {
	switch n := len(t.Warnings); {
	case n > maxTakenWarnings:
		return
	case n == maxTakenWarnings:
		message = "is among more warnings than are shown"
	}
	t.Warnings = append(t.Warnings, inputprop.Warning{Pointer: pointer, Rule: rule, Message: message})
}
