package inputvalidation

import (
	"context"
	"fmt"
	"strings"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/inputvalues"
	"slipway/internal/service/access"
)

// Request is values to be checked against inputs: those of a module version, a default value
// definition, or inputs that are given. Exactly one of the three is.
type Request struct {
	VersionID    *string
	DefinitionID *string
	Inputs       *strictjson.Node
	// Values may be nil beside InputsFrom.
	Values *strictjson.Node
	// Takeover is for the inputs of a version.
	Takeover
	// InstanceID is the instance that a deployment would be of, EnvironmentID the environment of one that
	// is still to be made; nil if neither is known.
	InstanceID    *string
	EnvironmentID *string
	// Violations are what was already found wrong while the input was read.
	Violations []fault.Violation
}

// parts are what a request names, once it is read.
type parts struct {
	inputs []inputprop.Property
	values *strictjson.Node
	scope  *Scope
	// warnings are of inputs that are stored, and of the values.
	warnings []inputprop.Warning
}

// Validation is what was found in values; the pointers start at them.
type Validation struct {
	*inputvalues.Validation
	// Warnings are of the inputs, defaults that count as absent, and of the values: mapped inputs that are left out, and
	// choices of what is archived.
	Warnings []inputprop.Warning
}

// Validate checks the values as createDeployment would.
func (s *Service) Validate(ctx context.Context, in Request) (*Validation, error) {
	a, err := s.read(ctx, in)
	if err != nil {
		return nil, err
	}
	found, err := s.Engine.Examine(ctx, a.inputs, a.values, "", a.scope.env)
	if err != nil {
		return nil, asUnavailable(err)
	}
	return &Validation{found, append(a.warnings, found.Warnings...)}, nil
}

// Resolve returns what a form shows for the values: with defaults and templates filled in, as far as they are known.
func (s *Service) Resolve(ctx context.Context, in Request) (*inputvalues.Resolved, []fault.Violation, error) {
	a, err := s.read(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	resolved, violations, err := s.Engine.Resolve(ctx, a.inputs, a.values, "", a.scope.env)
	if err != nil {
		return nil, nil, asUnavailable(err)
	}
	resolved.Warnings = append(a.warnings, resolved.Warnings...)
	return resolved, violations, nil
}

// Completed is what a deployment stores of its inputs.
type Completed struct {
	// Values have the defaults, and nothing that is hidden.
	Values *strictjson.Node
	// References are the instances that the values choose.
	References []Reference
	// Warnings are of mapped inputs that are left out, and of choices of what is archived.
	Warnings []inputprop.Warning
}

// Complete returns what a deployment stores, or every violation; pointers start with at. The list is of a stored
// version: defaults that today's rules refuse are taken out of it.
func (s *Service) Complete(
	ctx context.Context, list []inputprop.Property, values *strictjson.Node, at string, scope *Scope,
) (*Completed, []fault.Violation, error) {
	if _, err := s.Rules.DropRefused(ctx, list, at); err != nil {
		return nil, nil, asUnavailable(err)
	}
	chosen, err := s.loadReferences(ctx, list, values, scope)
	if err != nil {
		return nil, nil, err
	}

	resolved, violations, err := s.Engine.Complete(ctx, list, values, at, scope.env)
	if err != nil || len(violations) > 0 {
		return nil, violations, asUnavailable(err)
	}

	for _, pointer := range resolved.Unresolved {
		violations = append(violations, fault.Violation{Pointer: at + pointer, Rule: "template_unresolved",
			Message: "must have a value for every template, found one that is not known here"})
	}

	warnings := append(scope.warnings, resolved.Warnings...)
	for i := range warnings {
		warnings[i].Pointer = at + warnings[i].Pointer
	}

	return &Completed{resolved.Values, chosen.live(resolved.References), warnings}, violations, nil
}

func (s *Service) read(ctx context.Context, in Request) (*parts, error) {
	if err := access.Check(actor.From(ctx), access.Read, fault.RequestForbidden); err != nil {
		return nil, err
	}
	violations := in.Violations
	if n := given(in.VersionID != nil) + given(in.DefinitionID != nil) + given(in.Inputs != nil); n != 1 &&
		len(violations) == 0 {
		violations = append(violations, fault.Violation{Rule: "one_of",
			Message: "must have exactly one of moduleVersionId, defaultValueDefinitionId and inputs"})
	}

	violations = append(violations, in.checkTakeover()...)
	if in.InputsFrom == nil || in.Values != nil {
		violations = append(violations, inputvalues.CheckValues(in.Values, "/values")...)
	}
	if len(violations) > 0 {
		return nil, fault.Invalid(fault.RequestInvalid, violations...)
	}

	a := &parts{values: in.Values}
	version, err := s.readInputs(ctx, in, a)
	if err != nil {
		return nil, err
	}

	if in.InputsFrom != nil {
		if err := s.takeOver(ctx, in, version, a); err != nil {
			return nil, err
		}
	}

	if a.scope, err = s.requestedScope(ctx, in, version); err != nil {
		return nil, err
	}
	_, err = s.loadReferences(ctx, a.inputs, a.values, a.scope)
	a.warnings = append(a.warnings, a.scope.warnings...)

	return a, err
}

func (in Request) checkTakeover() []fault.Violation {
	violations := in.Takeover.Check(in.Values, "/values")
	if in.InputsFrom != nil && in.VersionID == nil {
		violations = append(violations, fault.Violation{Pointer: pointerOfSource, Rule: "version",
			Message: "is for the inputs of a module version: give moduleVersionId too, or leave it out"})
	}
	return violations
}

// takeOver adds to the values what the request takes over.
func (s *Service) takeOver(ctx context.Context, in Request, version *ent.ModuleVersion, a *parts) error {
	var instanceID string
	if in.InstanceID != nil {
		instanceID = *in.InstanceID
	}
	taken, err := s.TakeOver(ctx, in.Takeover, in.Values, version.ModuleDefinitionID, instanceID)
	if err != nil {
		return err
	}
	if violations := taken.Drop(a.inputs, version.Version, "/values"); len(violations) > 0 {
		return fault.Invalid(fault.RequestInvalid, violations...)
	}
	a.values, a.warnings = taken.Values, append(a.warnings, taken.Warnings...)
	return nil
}

// DeprecationWarning returns that a version is deprecated, if it is.
func DeprecationWarning(version *ent.ModuleVersion) []inputprop.Warning {
	if version.DeprecatedAt == nil {
		return nil
	}
	message := fmt.Sprintf("the version %s is deprecated: %s", version.Version, *version.DeprecationReason)
	if version.SuccessorID != nil {
		message += "; deploy " + *version.SuccessorID + " instead"
	}
	return []inputprop.Warning{{Pointer: "/moduleVersionId", Rule: "version_deprecated", Message: message}}
}

func given(is bool) int {
	if is {
		return 1
	}
	return 0
}

// readInputs reads the inputs that the values are for, and returns the version that has them, nil if none does.
func (s *Service) readInputs(ctx context.Context, in Request, a *parts) (*ent.ModuleVersion, error) {
	switch {
	case in.VersionID != nil:
		version, err := s.version(ctx, *in.VersionID)
		if err != nil {
			return nil, err
		}
		if a.inputs, err = version.Inputs.Properties(ctx); err == nil {
			a.warnings, err = s.Rules.DropRefused(ctx, a.inputs, "/inputs")
			a.warnings = append(a.warnings, DeprecationWarning(version)...)
		}
		return version, asUnavailable(err)
	case in.DefinitionID != nil:
		d, err := s.Definitions.Definition(record.Whole(ctx), *in.DefinitionID)
		if err != nil {
			return nil, err
		}
		schema, err := d.Schema.Property(ctx)
		if err != nil {
			return nil, err
		}
		a.inputs = []inputprop.Property{schema}
		a.warnings, err = s.Rules.DropRefused(ctx, a.inputs, "")
		for i := range a.warnings {
			a.warnings[i].Pointer = "/schema" + strings.TrimPrefix(a.warnings[i].Pointer, "/0")
		}
		return nil, asUnavailable(err)
	}

	list, violations := inputprop.DecodeList(in.Inputs, "/inputs")
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

// version returns a module version, or ModuleVersionNotFound.
func (s *Service) version(ctx context.Context, versionID string) (*ent.ModuleVersion, error) {
	if err := store.CheckID(id.ModuleVersion, versionID, fault.ModuleVersionNotFound); err != nil {
		return nil, err
	}
	v, err := s.Store.Client.ModuleVersion.Get(ctx, versionID)
	return store.NotFoundAs(v, err, versionID, fault.ModuleVersionNotFound)
}

// requestedScope returns where the values would be deployed: an instance, an environment, or nowhere yet. version is
// nil if the inputs are given or a definition's.
func (s *Service) requestedScope(ctx context.Context, in Request, version *ent.ModuleVersion) (*Scope, error) {
	if in.EnvironmentID != nil {
		if err := store.CheckID(id.Environment, *in.EnvironmentID, fault.EnvironmentNotFound); err != nil {
			return nil, err
		}
	}
	switch {
	case in.InstanceID != nil:
		return s.requestedInstanceScope(ctx, in, version)
	case in.EnvironmentID != nil:
		return s.EnvironmentScope(ctx, *in.EnvironmentID, version)
	default:
		return s.emptyScope(ctx, version)
	}
}

// requestedInstanceScope returns the scope of the instance that the request names.
func (s *Service) requestedInstanceScope(ctx context.Context, in Request, version *ent.ModuleVersion) (*Scope, error) {
	if err := store.CheckID(id.ModuleInstance, *in.InstanceID, fault.ModuleInstanceNotFound); err != nil {
		return nil, err
	}
	instance, err := s.Store.Client.ModuleInstance.Get(ctx, *in.InstanceID)
	if instance, err = store.NotFoundAs(instance, err, *in.InstanceID, fault.ModuleInstanceNotFound); err != nil {
		return nil, err
	}

	var wrong []fault.Violation
	if version != nil && instance.ModuleDefinitionID != version.ModuleDefinitionID {
		wrong = append(wrong, OtherModuleViolation(instance, version))
	}

	if in.EnvironmentID != nil && *in.EnvironmentID != instance.EnvironmentID {
		if _, err := s.EnvironmentScope(ctx, *in.EnvironmentID, nil); err != nil {
			return nil, err
		}
		wrong = append(wrong, fault.Violation{Pointer: "/environmentId", Rule: "other_environment",
			Message: fmt.Sprintf(
				"must be the instance's environment %s or be left out, found %s", instance.EnvironmentID, *in.EnvironmentID,
			)})
	}

	if len(wrong) > 0 {
		return nil, fault.Invalid(fault.RequestInvalid, wrong...)
	}
	return s.InstanceScope(ctx, instance, version)
}

// OtherModuleViolation returns what is wrong with a version that is not one of the instance's module.
func OtherModuleViolation(instance *ent.ModuleInstance, version *ent.ModuleVersion) fault.Violation {
	return fault.Violation{Pointer: "/moduleVersionId", Rule: "other_module",
		Message: fmt.Sprintf("must be a version of the instance's module %s, found one of %s",
			instance.ModuleDefinitionID, version.ModuleDefinitionID)}
}
