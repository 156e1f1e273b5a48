package inputvalidation

import (
	"context"
	"fmt"
	"strings"

	"slipway/internal/strictjson"

	"slipway/ent"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/id"
	"slipway/internal/inputprop"
	"slipway/internal/meter"
	"slipway/internal/store"
)

// Question is values to be judged against inputs: those of a module version, a default value
// definition, or inputs that are given. Exactly one of the three is.
type Question struct {
	VersionID    *string
	DefinitionID *string
	Inputs       *strictjson.Node
	Values       *strictjson.Node
	// InstanceID is the instance that a deployment would be of, EnvironmentID the environment of one that
	// is still to be made; nil where neither is known.
	InstanceID    *string
	EnvironmentID *string
	// Violations are what was already found wrong while the input was read.
	Violations []fault.Violation
}

// asked is a question whose parts have been read.
type asked struct {
	inputs []inputprop.Property
	values *strictjson.Node
	place  *Place
	// warnings are of inputs that are stored.
	warnings []inputprop.Warning
}

// Validation is what was found in values; the pointers start at them.
type Validation struct {
	*inputprop.Validation
	// Warnings are of the inputs: defaults that count as absent.
	Warnings []inputprop.Warning
}

// Validate judges the values as a deployment of them would be.
func (s *Service) Validate(ctx context.Context, q Question) (*Validation, error) {
	a, err := s.read(ctx, q)
	if err != nil {
		return nil, err
	}
	found, err := s.Engine.Examine(ctx, a.inputs, a.values, "", a.place.context)
	return &Validation{found, a.warnings}, busy(err)
}

// Resolve gives what a form shows for the values, and what cannot be made out.
func (s *Service) Resolve(ctx context.Context, q Question) (*inputprop.Resolved, []fault.Violation, error) {
	a, err := s.read(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	resolved, violations, err := s.Engine.Resolve(ctx, a.inputs, a.values, "", a.place.context.Env)
	if err != nil {
		return nil, nil, busy(err)
	}
	resolved.Warnings = a.warnings
	return resolved, violations, nil
}

// Complete gives the values that a deployment stores, with defaults and without what is hidden, or every
// violation; pointers start with at. The list is of a stored version: defaults that today's rules refuse are taken
// out of it.
func (s *Service) Complete(ctx context.Context, list []inputprop.Property, values *strictjson.Node, at string, p *Place) (*strictjson.Node, []fault.Violation, error) {
	if _, err := s.Engine.DropRefused(ctx, list, at); err != nil {
		return nil, nil, busy(err)
	}
	if err := s.refer(ctx, list, values, p); err != nil {
		return nil, nil, err
	}
	resolved, violations, err := s.Engine.Complete(ctx, list, values, at, p.context)
	if err != nil || len(violations) > 0 {
		return nil, violations, busy(err)
	}
	for _, pointer := range resolved.Unresolved {
		violations = append(violations, fault.Violation{Pointer: at + pointer, Rule: "template_unresolved",
			Message: "must have a value for every template, found one that is not known here"})
	}
	return resolved.Values, violations, nil
}

func (s *Service) read(ctx context.Context, q Question) (*asked, error) {
	if err := access.Check(actor.From(ctx), access.Read, fault.RequestForbidden); err != nil {
		return nil, err
	}
	violations := q.Violations
	if n := given(q.VersionID != nil) + given(q.DefinitionID != nil) + given(q.Inputs != nil); n != 1 && len(violations) == 0 {
		violations = append(violations, fault.Violation{Rule: "one_of",
			Message: "must have exactly one of moduleVersionId, defaultValueDefinitionId and inputs"})
	}
	if violations = append(violations, inputprop.CheckValues(q.Values, "/values")...); len(violations) > 0 {
		return nil, fault.Invalid(fault.RequestInvalid, violations...)
	}
	a := &asked{values: q.Values}
	version, err := s.subject(ctx, q, a)
	if err != nil {
		return nil, err
	}
	if a.place, err = s.locate(ctx, q, version); err != nil {
		return nil, err
	}
	return a, s.refer(ctx, a.inputs, a.values, a.place)
}

func given(is bool) int {
	if is {
		return 1
	}
	return 0
}

// subject reads the inputs that the values are for, and the version that they are of where they are of
// one.
func (s *Service) subject(ctx context.Context, q Question, a *asked) (*ent.ModuleVersion, error) {
	switch {
	case q.VersionID != nil:
		version, err := s.Catalog.Version(ctx, *q.VersionID)
		if err != nil {
			return nil, err
		}
		if err := meter.Spend(ctx, meter.Inputs, len(version.Inputs.JSON())); err != nil {
			return nil, err
		}
		if a.inputs, err = version.Inputs.Properties(); err == nil {
			a.warnings, err = s.Engine.DropRefused(ctx, a.inputs, "/inputs")
		}
		return version, busy(err)
	case q.DefinitionID != nil:
		d, err := s.Defaults.Definition(ctx, *q.DefinitionID)
		if err != nil {
			return nil, err
		}
		if err := meter.Spend(ctx, meter.Inputs, len(d.Schema.JSON())); err != nil {
			return nil, err
		}
		schema, err := d.Schema.Property()
		if err != nil {
			return nil, err
		}
		a.inputs = []inputprop.Property{schema}
		a.warnings, err = s.Engine.DropRefused(ctx, a.inputs, "")
		for i := range a.warnings {
			a.warnings[i].Pointer = "/schema" + strings.TrimPrefix(a.warnings[i].Pointer, "/0")
		}
		return nil, busy(err)
	}
	list, violations := inputprop.DecodeList(q.Inputs, "/inputs")
	if len(violations) > 0 {
		return nil, fault.Invalid(fault.RequestInvalid, violations...)
	}
	broken, _, err := s.Check(ctx, list, "/inputs")
	if err == nil && len(broken) > 0 {
		err = fault.Invalid(fault.InputsRuleBroken, broken...)
	}
	a.inputs = list
	return nil, err
}

// locate finds where the values would be deployed: an instance, an environment, or nowhere yet. There is no
// version where the inputs are given or a definition's.
func (s *Service) locate(ctx context.Context, q Question, version *ent.ModuleVersion) (*Place, error) {
	if q.EnvironmentID != nil {
		if err := store.CheckID(id.Environment, *q.EnvironmentID, fault.EnvironmentNotFound); err != nil {
			return nil, err
		}
	}
	switch {
	case q.InstanceID != nil:
		return s.ofQuestion(ctx, q, version)
	case q.EnvironmentID != nil:
		return s.In(ctx, *q.EnvironmentID, version)
	default:
		return s.nowhere(ctx, version)
	}
}

// ofQuestion gives the place of the instance that is asked about.
func (s *Service) ofQuestion(ctx context.Context, q Question, version *ent.ModuleVersion) (*Place, error) {
	instance, err := s.Catalog.Instance(ctx, *q.InstanceID)
	if err != nil {
		return nil, err
	}
	var wrong []fault.Violation
	if version != nil && instance.ModuleDefinitionID != version.ModuleDefinitionID {
		wrong = append(wrong, OtherModule(instance, version))
	}
	if q.EnvironmentID != nil && *q.EnvironmentID != instance.EnvironmentID {
		if _, err := s.In(ctx, *q.EnvironmentID, nil); err != nil {
			return nil, err
		}
		wrong = append(wrong, fault.Violation{Pointer: "/environmentId", Rule: "other_environment",
			Message: fmt.Sprintf("must be the instance's environment %s or be left out, found %s", instance.EnvironmentID, *q.EnvironmentID)})
	}
	if len(wrong) > 0 {
		return nil, fault.Invalid(fault.RequestInvalid, wrong...)
	}
	return s.At(ctx, instance, version)
}

// OtherModule is what is wrong with a version that is not one of the instance's module.
func OtherModule(instance *ent.ModuleInstance, version *ent.ModuleVersion) fault.Violation {
	return fault.Violation{Pointer: "/moduleVersionId", Rule: "other_module",
		Message: fmt.Sprintf("must be a version of the instance's module %s, found one of %s",
			instance.ModuleDefinitionID, version.ModuleDefinitionID)}
}
