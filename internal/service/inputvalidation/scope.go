package inputvalidation

import (
	"context"
	"errors"

	"slipway/ent"
	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/store"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/inputvalues"
	"slipway/internal/pure/release"
)

// Scope is where values are deployed: what templates may name, and what is live.
type Scope struct {
	env inputvalues.Env
	// instanceID is the instance that is deployed, "" if it is still to be made.
	instanceID string
	// LiveDeploymentID is the deployment whose values bind immutable inputs, nil if there is none.
	LiveDeploymentID *string
	// warnings are of what the values choose, with pointers into them.
	warnings []inputprop.Warning
}

// InstanceScope returns the scope of an instance. version is the one to be deployed, nil if it is not known.
func (s *Service) InstanceScope(
	ctx context.Context, instance *ent.ModuleInstance, version *ent.ModuleVersion,
) (*Scope, error) {
	scope, err := s.EnvironmentScope(ctx, instance.EnvironmentID, version)
	if err == nil && version == nil {
		err = s.nameModule(ctx, scope, instance.ModuleDefinitionID, "")
	}
	if err != nil {
		return nil, err
	}
	if scope.instanceID = instance.ID; instance.LiveDeploymentID == nil {
		return scope, nil
	}

	scope.LiveDeploymentID = instance.LiveDeploymentID
	baseline, err := s.baseline(ctx, instance)
	if err != nil {
		return nil, err
	}

	scope.env.Previous = baseline
	if l, err := s.readLiveRelease(ctx, *instance.LiveDeploymentID); err != nil {
		return nil, err
	} else if l != nil {
		scope.env.Previous = inputvalues.Overlay(l.values, baseline)
	}

	return scope, nil
}

// EnvironmentScope returns the scope of an instance that is still to be made in an environment: nothing is live there.
// version is the one to be deployed, nil if it is not known.
func (s *Service) EnvironmentScope(
	ctx context.Context, environmentID string, version *ent.ModuleVersion,
) (*Scope, error) {
	c := s.Store.Client
	environment, err := c.Environment.Get(ctx, environmentID)
	if environment, err = store.NotFoundAs(environment, err, environmentID, fault.EnvironmentNotFound); err != nil {
		return nil, err
	}
	project, err := c.Project.Get(ctx, environment.ProjectID)
	if project, err = store.NotFoundAs(project, err, environment.ProjectID, fault.ProjectNotFound); err != nil {
		return nil, err
	}

	organization, err := c.Organization.Get(ctx, environment.OrganizationID)
	if err != nil {
		return nil, err
	}
	scope, err := s.emptyScope(ctx, version)
	if err != nil {
		return nil, err
	}

	scope.env.Organization = inputvalues.Scope{ID: organization.ID, Name: organization.Name, Slug: organization.Slug}
	scope.env.Project = inputvalues.Scope{ID: project.ID, Name: project.Name, Slug: project.Slug}
	scope.env.Environment = inputvalues.Scope{ID: environment.ID, Name: environment.Name, Slug: environment.Slug}
	return scope, nil
}

// emptyScope returns a scope of which nothing is known but the sources of options and, where there is one, the
// version.
func (s *Service) emptyScope(ctx context.Context, version *ent.ModuleVersion) (*Scope, error) {
	scope := &Scope{env: inputvalues.Env{Options: s.options}}
	if version == nil {
		return scope, nil
	}
	return scope, s.nameModule(ctx, scope, version.ModuleDefinitionID, version.Version)
}

// nameModule lets the templates of a scope name a module.
func (s *Service) nameModule(ctx context.Context, scope *Scope, definitionID, version string) error {
	module, err := s.Store.Client.ModuleDefinition.Get(ctx, definitionID)
	if err != nil {
		return err
	}
	scope.env.Module = inputvalues.ModuleScope{ID: module.ID, Name: module.Name, Type: module.Type, Version: version}
	return nil
}

// optionBytes is about how much there is to read and to compare with for an option.
const optionBytes = 64

// options returns the options of a source, as inputprop asks for them.
func (s *Service) options(ctx context.Context, source string, params map[string]string) ([]inputprop.Option, error) {
	all, err := s.Sources.All(ctx, source, params)
	if fault.Is(err, fault.DefaultValueDefinitionNotFound) {
		// Another value may have named the definition, so that this is about the values, not the request.
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := meter.Spend(ctx, meter.Inputs, optionBytes*len(all)); err != nil {
		return nil, err
	}
	options := make([]inputprop.Option, len(all))
	for i, o := range all {
		options[i] = *o
	}
	return options, nil
}

// liveRelease is what an instance was last deployed with.
type liveRelease struct {
	versionID string
	values    *strictjson.Node
}

// readLiveRelease returns what a deployment shipped, nil if its release is not stored any more or is not what was
// stored: what cannot be trusted binds nothing, and a new deployment is the way out.
func (s *Service) readLiveRelease(ctx context.Context, deploymentID string) (*liveRelease, error) {
	d, err := s.Store.Client.Deployment.Get(ctx, deploymentID)
	if err != nil || d.ReleaseID == nil {
		return nil, err
	}
	r, err := s.Store.Client.Release.Get(ctx, *d.ReleaseID)
	if err != nil {
		return nil, err
	}
	return readRelease(ctx, r)
}

// readRelease reads a release, nil if it is not what was stored.
func readRelease(ctx context.Context, r *ent.Release) (*liveRelease, error) {
	if err := meter.Decode(ctx, meter.Inputs, r.Content); err != nil {
		return nil, err
	}
	return openRelease(r)
}

// openRelease is readRelease for what is not counted as work of a request.
func openRelease(r *ent.Release) (*liveRelease, error) {
	content, err := release.Open(r.Digest, r.Content)
	if errors.Is(err, release.ErrDigestMismatch) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	values, err := strictjson.ParseStored(content.Inputs)
	return &liveRelease{content.ModuleVersionID, values}, err
}
