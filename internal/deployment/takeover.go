package deployment

import (
	"context"
	"fmt"
	"math"

	"slipway/ent"
	"slipway/internal/ecs"
	"slipway/internal/fault"
	"slipway/internal/inputprop"
	"slipway/internal/meter"
	"slipway/internal/strictjson"
)

const (
	// maxWithout is how many inputs may be left out of those that are taken over.
	maxWithout = 1000
	// maxTakenWarnings is how many inputs are named that are not taken over.
	maxTakenWarnings = 100
)

// takeover is what a new deployment takes over of the one that it names as InputsFrom.
type takeover struct {
	// keys are the inputs whose values it has from there, and bytes how many bytes there were.
	keys  map[string]bool
	bytes int
	// target is where an earlier deployment of the same instance went, nil for another's.
	target *ecs.Data
}

// checkTakeover returns what is wrong with the members by which inputs are taken over, whatever there is to be taken.
func (in New) checkTakeover() (violations []fault.Violation) {
	switch {
	case in.InputsFrom == nil && len(in.WithoutInputs) > 0:
		return []fault.Violation{{Pointer: "/withoutInputs", Rule: "inputs_from", Message: "is for inputs that are taken over: give inputsFrom too, or leave it out"}}
	case len(in.WithoutInputs) > maxWithout:
		return []fault.Violation{{Pointer: "/withoutInputs", Rule: "max_items",
			Message: fmt.Sprintf("must name at most %d inputs, found %d", maxWithout, len(in.WithoutInputs))}}
	case in.Inputs == nil || in.Inputs.Kind != strictjson.Object:
		return nil
	}
	own := in.Inputs.Index()
	for i, name := range in.WithoutInputs {
		if own(name) != nil {
			violations = append(violations, fault.Violation{Pointer: fmt.Sprintf("/withoutInputs/%d", i), Rule: "given",
				Message: "must not name an input that inputs gives a value for, found " + strictjson.Quote(name)})
		}
	}
	return violations
}

// takeOver returns what is to be created, with what was given to the deployment that it names as InputsFrom, as far as it
// gives nothing itself. It fails with DeploymentNotFound, RequestInvalid for a deployment of another module,
// DeploymentInputsUnknown, and where the release is needed with ReleaseUnavailable and ReleaseDigestMismatch.
func (s *Service) takeOver(ctx context.Context, in New, p *prepared) (New, error) {
	if in.InputsFrom == nil {
		return in, nil
	}
	from, err := s.inputsFrom(ctx, *in.InputsFrom, p.instance)
	if err != nil {
		return in, err
	}
	given, err := s.givenTo(ctx, from)
	if err != nil {
		return in, err
	}
	if in.Inputs == nil || in.Inputs.Kind == strictjson.Object {
		in.Inputs, p.taken.bytes = p.merge(given, in), len(given.JSON())
	}
	if in.Artifact == nil && p.version.Kind == ecs.Type {
		if in.Artifact, err = s.artifactOf(ctx, from); err != nil {
			return in, err
		}
	}
	if from.ModuleInstanceID != p.instance.ID {
		return in, nil
	}
	if in.ResourceARN == nil {
		in.ResourceARN = from.ResourceArn
	}
	if in.ResourceName == nil {
		in.ResourceName = from.ResourceName
	}
	if in.Data == nil && p.version.Kind == ecs.Type {
		p.taken.target, err = from.Data.Target()
	}
	return in, err
}

// inputsFrom returns the deployment of an id, which must be of the module of an instance.
func (s *Service) inputsFrom(ctx context.Context, deploymentID string, instance *ent.ModuleInstance) (*ent.Deployment, error) {
	from, err := find(ctx, s.Store.Client.Deployment, deploymentID)
	if err != nil || from.ModuleInstanceID == instance.ID {
		return from, err
	}
	other, err := s.Store.Client.ModuleInstance.Get(ctx, from.ModuleInstanceID)
	if err != nil {
		return nil, err
	}
	if other.ModuleDefinitionID != instance.ModuleDefinitionID {
		return nil, fault.Invalid(fault.RequestInvalid, fault.Violation{Pointer: "/inputsFrom", Rule: "other_module",
			Message: fmt.Sprintf("must be a deployment of the instance's module %s, found one of %s", instance.ModuleDefinitionID, other.ModuleDefinitionID)})
	}
	return from, nil
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
			return parseStored(text)
		}
	}
	f := fault.New(fault.DeploymentInputsUnknown, "What was given for the inputs of the deployment %s is not kept: send the inputs once.", d.ID)
	f.Metadata = map[string]any{"deploymentId": d.ID}
	return nil, f
}

// parseStored reads JSON that was within its limits when it was stored.
func parseStored(text []byte) (*strictjson.Node, error) {
	return strictjson.ParseWithin(text, strictjson.Limits{Depth: 2 * strictjson.MaxLevels, Bytes: math.MaxInt})
}

// merge returns what was given, each value that is given now in the place of the one that was, without what is to be left
// out.
func (p *prepared) merge(given *strictjson.Node, in New) *strictjson.Node {
	own := &strictjson.Node{Kind: strictjson.Object}
	if in.Inputs != nil {
		own = in.Inputs
	}
	without := map[string]int{}
	for i, name := range in.WithoutInputs {
		without[name] = i
	}
	ownValue := own.Index()
	p.taken.keys = map[string]bool{}
	merged := &strictjson.Node{Kind: strictjson.Object}
	for i, key := range given.Keys {
		if _, left := without[key]; left {
			delete(without, key)
			continue
		}
		value := ownValue(key)
		if value == nil {
			value, p.taken.keys[key] = given.Items[i], true
		}
		merged.Append(key, value)
	}
	had := given.Index()
	for i, key := range own.Keys {
		if had(key) == nil {
			merged.Append(key, own.Items[i])
		}
	}
	for i, name := range in.WithoutInputs {
		if at, unknown := without[name]; unknown && at == i {
			p.warn(fmt.Sprintf("/withoutInputs/%d", i), "input_not_given", "names an input that was not given to the deployment, "+strictjson.Quote(name))
		}
	}
	return merged
}

// dropTaken takes the values out of what is taken over that the version has no inputs for, and warns of each. It returns what is
// wrong with values that are larger, with what is taken over, than any that may be given.
func (p *prepared) dropTaken(list []inputprop.Property) []fault.Violation {
	if p.InputsFrom == nil {
		return nil
	}
	level := inputprop.NewLevel(list)
	kept := &strictjson.Node{Kind: strictjson.Object}
	for i, key := range p.Inputs.Keys {
		input := level.ByID[key]
		if p.taken.keys[key] && (input == nil || input.Traits.NoValue) {
			p.warn("/inputsFrom", "input_dropped", fmt.Sprintf("has a value for %s, which the version %s has no input for: it is left out",
				strictjson.Quote(key), p.version.Version))
			continue
		}
		kept.Append(key, p.Inputs.Items[i])
	}
	p.Inputs = kept
	if most, size := max(strictjson.MaxBytes, p.taken.bytes), len(kept.JSON()); size > most {
		return []fault.Violation{{Pointer: "/inputs", Rule: "max_size",
			Message: fmt.Sprintf("must have at most %d bytes with what is taken over, found %d", most, size)}}
	}
	return nil
}

// warn adds a warning. Where there are many, the last says that there are more.
func (p *prepared) warn(pointer, rule, message string) {
	switch n := len(p.warnings); {
	case n > maxTakenWarnings:
		return
	case n == maxTakenWarnings:
		message = "is among more warnings than are shown"
	}
	p.warnings = append(p.warnings, inputprop.Warning{Pointer: pointer, Rule: rule, Message: message})
}

// artifactOf returns the artifact that a deployment ships, nil where it has none.
func (s *Service) artifactOf(ctx context.Context, d *ent.Deployment) (*strictjson.Node, error) {
	if d.ReleaseID == nil {
		return nil, notStored(d.ID)
	}
	r, err := s.Store.Client.Release.Get(ctx, *d.ReleaseID)
	if ent.IsNotFound(err) {
		return nil, notStored(d.ID)
	}
	if err != nil {
		return nil, err
	}
	if err := meter.Decode(ctx, meter.Stored, r.Content); err != nil {
		return nil, err
	}
	content, err := Content(r)
	if err != nil || content.Artifact == nil {
		return nil, err
	}
	return parseStored(content.Artifact)
}
