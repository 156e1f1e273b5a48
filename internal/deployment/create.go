package deployment

import (
	"context"
	"fmt"

	"slipway/ent"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/ecs"
	"slipway/internal/fault"
	"slipway/internal/id"
	"slipway/internal/inputprop"
	"slipway/internal/journal"
	"slipway/internal/release"
	"slipway/internal/store"
)

// New is a deployment to be created.
type New struct {
	InstanceID string
	VersionID  string
	// Inputs are the values of the version's inputs: a JSON object.
	Inputs []byte
	// Artifact is the task definition of an aws:ecs module: a JSON object; nil for other kinds.
	Artifact []byte
	// Data is what is known of an aws:ecs deployment beforehand: a JSON object, or nil.
	Data         []byte
	Description  *string
	ResourceARN  *string
	ResourceName *string
}

// Create stores the release and a PENDING deployment of it. It gives RequestInvalid with every
// violation, ModuleInstanceNotFound, ModuleVersionNotFound, DeploymentForbidden and
// DeploymentInProgress.
func (s *Service) Create(ctx context.Context, in New) (*ent.Deployment, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.DeploymentForbidden); err != nil {
		return nil, err
	}
	if err := store.Known(id.ModuleInstance, in.InstanceID, fault.ModuleInstanceNotFound); err != nil {
		return nil, err
	}
	if err := store.Known(id.ModuleVersion, in.VersionID, fault.ModuleVersionNotFound); err != nil {
		return nil, err
	}
	var created *ent.Deployment
	deploymentID, releaseID := s.Journal.NewID(id.Deployment), s.Journal.NewID(id.Release)
	err := s.start(ctx, "createDeployment", func(ctx context.Context, tx *ent.Tx, e *journal.Entry) (string, error) {
		instance, version, err := s.parts(ctx, tx, in)
		if err != nil {
			return "", err
		}
		if err := access.Check(a, access.Deploy, fault.DeploymentForbidden); err != nil {
			return "", err
		}
		sealed, data, err := in.sealed(version, a)
		if err != nil {
			return "", err
		}
		if data != nil {
			if data.PreviousTaskDefinition, err = liveTaskDefinition(ctx, tx, instance.ID); err != nil {
				return "", err
			}
		}
		r, err := keep(ctx, tx, e, releaseID, version, sealed)
		if err != nil {
			return "", err
		}
		e.ObjectID, e.Changes = deploymentID, map[string]any{"moduleInstanceId": instance.ID, "releaseId": r.ID}
		created, err = tx.Deployment.Create().
			SetID(deploymentID).SetOrganizationID(a.OrganizationID).SetCreatedAt(e.At).SetUpdatedAt(e.At).
			SetProjectID(instance.ProjectID).SetEnvironmentID(instance.EnvironmentID).
			SetModuleInstanceID(instance.ID).SetReleaseID(r.ID).
			SetDeploymentType(version.Kind).SetTriggerSource(TriggerAPI).
			SetNillableDescription(in.Description).SetCreatedBy(a.Name).
			SetNillableResourceArn(in.ResourceARN).SetNillableResourceName(in.ResourceName).
			SetData(data.Column()).
			Save(ctx)
		return instance.ID, err
	})
	if err != nil {
		return nil, err
	}
	return created, nil
}

// parts gives the instance and the version, which must be one of the instance's module.
func (s *Service) parts(ctx context.Context, tx *ent.Tx, in New) (*ent.ModuleInstance, *ent.ModuleVersion, error) {
	instance, err := tx.ModuleInstance.Get(ctx, in.InstanceID)
	if instance, err = store.Found(instance, err, in.InstanceID, fault.ModuleInstanceNotFound); err != nil {
		return nil, nil, err
	}
	version, err := tx.ModuleVersion.Get(ctx, in.VersionID)
	if version, err = store.Found(version, err, in.VersionID, fault.ModuleVersionNotFound); err != nil {
		return nil, nil, err
	}
	if version.ModuleDefinitionID != instance.ModuleDefinitionID {
		return nil, nil, fault.Invalid(fault.RequestInvalid, fault.Violation{Pointer: "/moduleVersionId", Rule: "other_module",
			Message: fmt.Sprintf("must be a version of the instance's module %s, found one of %s",
				instance.ModuleDefinitionID, version.ModuleDefinitionID)})
	}
	return instance, version, nil
}

// sealed gives the release and the data of the deployment, or everything that is wrong with its input.
func (in New) sealed(version *ent.ModuleVersion, a *actor.Actor) (release.Sealed, *ecs.Data, error) {
	inputs, err := version.Inputs.Properties()
	if err != nil {
		return release.Sealed{}, nil, err
	}
	violations := undeclared(in.Inputs, inputs)
	data, wrong := in.data(version.Kind, a)
	if violations = append(violations, wrong...); len(violations) > 0 {
		return release.Sealed{}, nil, fault.Invalid(fault.RequestInvalid, violations...)
	}
	content := release.Content{ModuleVersionID: version.ID, Kind: version.Kind, Inputs: in.Inputs, Artifact: in.Artifact}
	sealed, err := release.Seal(content)
	return sealed, data, err
}

// undeclared gives the members of the values that the version has no input for.
func undeclared(values []byte, inputs []inputprop.Property) []fault.Violation {
	n, err := inputprop.Parse(values)
	if err != nil || n.Kind != inputprop.Object {
		return []fault.Violation{{Pointer: "/inputs", Rule: "type", Message: "must be an object of values by the ids of the inputs"}}
	}
	declared := map[string]bool{}
	for _, p := range inputs {
		_, separator := p.(*inputprop.SectionProperty)
		declared[p.Head().ID] = !separator
		if ref, ok := p.(*inputprop.ReferenceProperty); ok {
			for _, mapped := range ref.MappedInputs {
				declared[mapped.Head().ID] = true
			}
		}
	}
	var violations []fault.Violation
	for _, name := range n.Keys {
		if !declared[name] {
			violations = append(violations, fault.Violation{Pointer: fault.Pointer("inputs", name), Rule: "unknown_input",
				Message: "is not an input of this module version"})
		}
	}
	return violations
}

// data gives the data of the deployment, nil for kinds that have none.
func (in New) data(kind string, a *actor.Actor) (*ecs.Data, []fault.Violation) {
	if kind != ecs.Type {
		return nil, append(onlyECS("/artifact", in.Artifact, kind), onlyECS("/data", in.Data, kind)...)
	}
	data := &ecs.Data{Type: ecs.Type}
	var violations []fault.Violation
	if in.Data != nil {
		known, wrong := ecs.DecodePatch(in.Data)
		violations = fault.Under("/data", wrong)
		data = known
	}
	if in.Artifact == nil {
		return data, append(violations, fault.Violation{Pointer: "/artifact", Rule: "required",
			Message: "is required for modules of the kind " + ecs.Type + ": a task definition"})
	}
	artifact, wrong := ecs.DecodeTaskDefinition(in.Artifact)
	if violations = append(violations, fault.Under("/artifact", wrong)...); len(violations) > 0 {
		return nil, violations
	}
	channel := string(a.Channel)
	data.DeployedTaskDefinition, data.TriggerChannel, data.TriggeredBy = artifact, &channel, &a.Name
	return data, nil
}

func onlyECS(pointer string, value []byte, kind string) []fault.Violation {
	if value == nil {
		return nil
	}
	return []fault.Violation{{Pointer: pointer, Rule: "kind",
		Message: "is for modules of the kind " + ecs.Type + " only, this one is " + kind}}
}
