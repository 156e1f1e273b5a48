package propose

import (
	"cmp"
	"context"
	"slices"
	"time"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/optional"
	"slipway/internal/base/strictjson"
	"slipway/internal/base/textrules"
	"slipway/internal/data/store"
	"slipway/internal/pure/ecs"
	"slipway/internal/pure/gate"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/inputvalues"
	"slipway/internal/pure/release"
	"slipway/internal/service/access"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/state"
	"slipway/internal/service/inputvalidation"
)

// New is a deployment to be created.
type New struct {
	InstanceID string
	VersionID  string
	// Inputs are the values of the version's inputs: an object. It may be nil beside InputsFrom.
	Inputs *strictjson.Node
	// InputsFrom is the deployment whose inputs are taken over, as far as they are neither among Inputs nor WithoutInputs;
	// nil for none.
	InputsFrom    *string
	WithoutInputs []string
	// Artifact is the task definition of an aws:ecs module: an object; nil for other deployment types.
	Artifact *strictjson.Node
	// Data is what is known of an aws:ecs deployment beforehand: an object, or nil.
	Data         *strictjson.Node
	Description  *string
	ResourceARN  *string
	ResourceName *string
	// PipelineRunID and StepExecutionID are what it is part of; nil for nothing.
	PipelineRunID, StepExecutionID *string
	admission.Request
}

// Create stores the release and a PENDING deployment of it. It fails with RequestInvalid and
// DeploymentInputsInvalid with every violation, ModuleInstanceNotFound, ModuleInstanceArchived, ModuleVersionNotFound,
// DeploymentForbidden, ReleaseQuarantined, DeploymentResourceTaken, DeploymentInProgress, DeploymentLiveChanged and
// RequestIdempotencyReused, and if inputs are taken over with DeploymentNotFound, DeploymentInputsUnknown,
// ReleaseUnavailable and ReleaseDigestMismatch. The warnings are what the caller should see to besides; a repeat under
// a key has none.
func (s *Service) Create(ctx context.Context, in New) (*ent.Deployment, []inputprop.Warning, error) {
	return s.make(ctx, s.creation(in))
}

// origin is where a deployment comes from that is created of values: it is given, or promoted from another instance.
type origin interface {
	action() string
	operation() gate.Operation
	triggerSource() string
	// given returns what is given.
	given() New
	// arguments are all that decides what is created, and planned those that decide what it is.
	arguments() []any
	planned() []any
	// find reads the instance and the version, which must be one of the instance's module.
	find(context.Context, *Service) (*prepared, error)
	// take completes what is prepared with what is taken over, and returns what is wrong with that.
	take(context.Context, *Service, *prepared) ([]fault.Violation, error)
}

var (
	_ origin = New{}
	_ origin = Promotion{}
)

// creation returns the intent of a creation.
func (s *Service) creation(from origin) intent {
	in, deploymentID, releaseID := from.given(), s.Journal.NewID(id.Deployment), s.Journal.NewID(id.Release)
	return intent{
		Request: in.Request, action: from.action(), deploymentID: deploymentID, forbidden: fault.DeploymentForbidden,
		lock: store.Creating, arguments: from.arguments,
		prepare: func(ctx context.Context, planned bool) (proposeFunc, *ent.Deployment, error) {
			p, err := s.prepare(ctx, from, planned)
			if err != nil {
				return nil, nil, err
			}
			return func(ctx context.Context, tx *ent.Tx, at time.Time) (*admission.Proposal, error) {
				return s.proposeCreation(ctx, tx, p, deploymentID, releaseID, at)
			}, p.promoted, nil
		},
	}
}

func (New) action() string { return "createDeployment" }

func (New) operation() gate.Operation { return gate.Create }

func (in New) given() New { return in }

// triggerSource implements origin.
func (in New) triggerSource() string {
	if in.PipelineRunID != nil || in.StepExecutionID != nil {
		return state.TriggerPipeline
	}
	return state.TriggerAPI
}

// arguments implements origin. A member that is new is added if it is given: the fingerprints of requests without it,
// which are stored, stay as they are.
func (in New) arguments() []any { return in.argumentsWith(nil) }

// argumentsWith returns the arguments of a creation, and what a promotion promotes besides.
func (in New) argumentsWith(promotes *string) []any {
	list := []any{
		in.InstanceID, in.VersionID, canonical(in.Inputs), canonical(in.Artifact), canonical(in.Data),
		in.Description, in.ResourceARN, in.ResourceName,
	}
	list = state.AppendGiven(list, "expectedLiveDeploymentId", in.ExpectedLiveID)
	if in.InputsFrom != nil {
		list = append(list, map[string]any{"inputsFrom": in.InputsFrom, "withoutInputs": in.WithoutInputs})
	}
	list = state.AppendGiven(list, "promotes", promotes)
	list = state.AppendGiven(list, "reason", in.Reason)
	list = state.AppendGiven(list, "pipelineRunId", in.PipelineRunID)
	return in.Control.AppendTo(state.AppendGiven(list, "stepExecutionId", in.StepExecutionID))
}

// planned implements origin.
func (in New) planned() []any {
	in.Request = in.Request.Planned()
	return in.arguments()
}

// find implements origin.
func (in New) find(ctx context.Context, s *Service) (*prepared, error) {
	if err := store.CheckID(id.ModuleInstance, in.InstanceID, fault.ModuleInstanceNotFound); err != nil {
		return nil, err
	}
	if err := store.CheckID(id.ModuleVersion, in.VersionID, fault.ModuleVersionNotFound); err != nil {
		return nil, err
	}
	instance, err := s.Store.Client.ModuleInstance.Get(ctx, in.InstanceID)
	if instance, err = store.NotFoundAs(instance, err, in.InstanceID, fault.ModuleInstanceNotFound); err != nil {
		return nil, err
	}
	version, err := s.Store.Client.ModuleVersion.Get(ctx, in.VersionID)
	if version, err = store.NotFoundAs(version, err, in.VersionID, fault.ModuleVersionNotFound); err != nil {
		return nil, err
	}
	if version.ModuleDefinitionID != instance.ModuleDefinitionID {
		return nil, fault.Invalid(fault.RequestInvalid, inputvalidation.OtherModuleViolation(instance, version))
	}
	return &prepared{instance: instance, version: version}, nil
}

// take implements origin.
func (in New) take(ctx context.Context, s *Service, p *prepared) ([]fault.Violation, error) {
	taken, err := s.takeOver(ctx, in, p)
	p.New = taken
	return nil, err
}

// prepared is a deployment whose input is valid.
type prepared struct {
	// New is what was asked for, with what is taken over; from is where it comes from.
	New
	from     origin
	instance *ent.ModuleInstance
	version  *ent.ModuleVersion
	// live is the deployment that the values were validated against, "" for none.
	live string
	// scope is what the values are validated in, nil until it is needed.
	scope *inputvalidation.Scope
	// references are the instances that the values choose.
	references []inputvalidation.Reference
	// taken is what is taken over of the deployment that InputsFrom names, nil if that is none.
	taken *inputvalidation.Taken
	// target is where an earlier deployment of the same instance went that is taken over, nil for none.
	target *ecs.Data
	// warnings are what the caller should see to.
	warnings []inputprop.Warning
	sealed   release.Sealed
	data     *ecs.Data
	// promoted is what is promoted, nil for none.
	promoted *ent.Deployment
	// forbidden is why the actor may not make it, nil if it may.
	forbidden error
}

// prepare validates the input, before the transaction: patterns and options take their time. What is only planned may
// be forbidden.
func (s *Service) prepare(ctx context.Context, from origin, planned bool) (*prepared, error) {
	p, err := from.find(ctx, s)
	if err != nil {
		return nil, err
	}
	p.New, p.from = from.given(), from

	place := actor.Place{ProjectID: p.instance.ProjectID, EnvironmentID: p.instance.EnvironmentID}
	p.forbidden = access.CheckIn(actor.From(ctx), access.Deploy, place, fault.DeploymentForbidden)
	if p.forbidden != nil && !planned {
		return nil, p.forbidden
	}
	if err := s.validate(ctx, p); err != nil {
		return nil, cmp.Or(p.forbidden, err)
	}
	return p, nil
}

// validate completes what is prepared, if its input is valid.
func (s *Service) validate(ctx context.Context, p *prepared) error {
	if err := state.CheckNotArchived(p.instance.ID, p.instance.ArchivedAt); err != nil {
		return err
	}

	violations := slices.Concat(p.checkTexts(), p.takeover().Check(p.Inputs, "/inputs"))
	wrong, err := p.from.take(ctx, s, p)
	if err != nil {
		return err
	}
	if len(wrong) > 0 {
		return fault.Invalid(fault.DeploymentInputsInvalid, append(wrong, violations...)...)
	}

	p.data, wrong = p.newData(p.version.Kind, actor.From(ctx), p.target)
	violations = append(violations, wrong...)
	completed, wrong, err := s.completeInputs(ctx, p)
	if err != nil {
		return err
	}
	switch {
	case len(wrong) > 0:
		return fault.Invalid(fault.DeploymentInputsInvalid, append(wrong, violations...)...)
	case len(violations) > 0:
		return fault.Invalid(fault.RequestInvalid, violations...)
	}

	p.references = completed.References
	p.warnings = slices.Concat(inputvalidation.DeprecationWarning(p.version), p.warnings, completed.Warnings)
	p.sealed, err = release.Seal(release.Unsealed{
		ModuleVersionID: p.version.ID, Kind: p.version.Kind, Inputs: completed.Values, Artifact: p.Artifact,
	})
	return err
}

// newData returns the data of the deployment, nil for deployment types that have none. target is what it has if none
// is given, nil for nothing.
func (in New) newData(kind string, a *actor.Actor, target *ecs.Data) (*ecs.Data, []fault.Violation) {
	if kind != ecs.Type {
		return nil, append(state.CheckOnlyECS("/artifact", in.Artifact, kind), state.CheckOnlyECS("/data", in.Data, kind)...)
	}
	data := cmp.Or(target, &ecs.Data{Type: ecs.Type})

	var violations []fault.Violation
	if in.Data != nil {
		known, wrong := ecs.DecodeNew(in.Data)
		violations = fault.Under("/data", wrong)
		data = known
	}

	if in.Artifact == nil {
		return data, append(violations, fault.Violation{Pointer: "/artifact", Rule: "required",
			Message: "is required for modules with the deploymentType " + ecs.Type + ": a task definition"})
	}
	artifact, wrong := ecs.DecodeArtifact(in.Artifact)
	if violations = append(violations, fault.Under("/artifact", wrong)...); len(violations) > 0 {
		return nil, violations
	}

	channel := string(a.Channel)
	data.DeployedTaskDefinition, data.TriggerChannel, data.TriggeredBy = artifact, &channel, &a.Name
	return data, nil
}

func (in New) checkTexts() []fault.Violation {
	violations := append(textrules.Description("/description", in.Description), in.Request.Check()...)
	violations = append(violations, state.CheckPipeline(in.PipelineRunID, in.StepExecutionID)...)
	violations = append(violations, textrules.Identifier("/resourceArn", in.ResourceARN)...)
	return append(violations, textrules.Identifier("/resourceName", in.ResourceName)...)
}

// completeInputs returns the values that the release has: those given, and the defaults of what is visible.
func (s *Service) completeInputs(
	ctx context.Context, p *prepared,
) (*inputvalidation.Completed, []fault.Violation, error) {
	if violations := inputvalues.CheckValues(p.Inputs, "/inputs"); len(violations) > 0 {
		return nil, violations, nil
	}
	list, err := p.version.Inputs.Properties(ctx)
	if err != nil {
		return nil, nil, err
	}

	if p.taken != nil {
		if violations := p.taken.Drop(list, p.version.Version, "/inputs"); len(violations) > 0 {
			return nil, violations, nil
		}
		p.Inputs, p.warnings = p.taken.Values, p.taken.Warnings
	}

	if p.scope == nil {
		if p.scope, err = s.Inputs.InstanceScope(ctx, p.instance, p.version); err != nil {
			return nil, nil, err
		}
	}

	p.live = optional.OrZero(p.scope.LiveDeploymentID)
	return s.Inputs.Complete(ctx, list, p.Inputs, "/inputs", p.scope)
}
