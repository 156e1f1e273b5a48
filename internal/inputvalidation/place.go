package inputvalidation

import (
	"context"
	"errors"
	"math"

	"slipway/internal/strictjson"

	"slipway/ent"
	"slipway/internal/fault"
	"slipway/internal/inputvalues"
	"slipway/internal/meter"
	"slipway/internal/release"
	"slipway/internal/store"
)

// Place is where values are judged: what templates may name, and what is live.
type Place struct {
	context inputvalues.Context
	// instanceID is the instance that is deployed, "" where it is still to be made.
	instanceID string
	// LiveDeploymentID is the deployment whose values bind immutable inputs, nil where there is none.
	LiveDeploymentID *string
}

// At gives the place of an instance for a version of its module, nil where there is none.
func (s *Service) At(ctx context.Context, instance *ent.ModuleInstance, version *ent.ModuleVersion) (*Place, error) {
	p, err := s.In(ctx, instance.EnvironmentID, version)
	if err == nil && version == nil {
		err = s.nameModule(ctx, p, instance.ModuleDefinitionID, "")
	}
	if err != nil {
		return nil, err
	}
	if p.instanceID = instance.ID; instance.LiveDeploymentID == nil {
		return p, nil
	}
	p.LiveDeploymentID = instance.LiveDeploymentID
	baseline, err := s.baseline(ctx, instance)
	if err != nil {
		return nil, err
	}
	p.context.Previous = baseline
	if l, err := s.live(ctx, *instance.LiveDeploymentID); err != nil {
		return nil, err
	} else if l != nil {
		p.context.Previous = inputvalues.Overlay(l.values, baseline)
	}
	return p, nil
}

// In gives the place of an environment, where nothing is live yet, for a version, nil where there is none.
func (s *Service) In(ctx context.Context, environmentID string, version *ent.ModuleVersion) (*Place, error) {
	c := s.Store.Client
	environment, err := c.Environment.Get(ctx, environmentID)
	if environment, err = store.NotFoundAs(environment, err, environmentID, fault.EnvironmentNotFound); err != nil {
		return nil, err
	}
	project, err := c.Project.Get(ctx, environment.ProjectID)
	if err != nil {
		return nil, err
	}
	organization, err := c.Organization.Get(ctx, environment.OrganizationID)
	if err != nil {
		return nil, err
	}
	p, err := s.nowhere(ctx, version)
	if err != nil {
		return nil, err
	}
	p.context.Organization = inputvalues.Scope{ID: organization.ID, Name: organization.Name, Slug: organization.Slug}
	p.context.Project = inputvalues.Scope{ID: project.ID, Name: project.Name, Slug: project.Slug}
	p.context.Environment = inputvalues.Scope{ID: environment.ID, Name: environment.Name, Slug: environment.Slug}
	return p, nil
}

// nowhere gives a place of which nothing is known but the server's lists and, where there is one, the version.
func (s *Service) nowhere(ctx context.Context, version *ent.ModuleVersion) (*Place, error) {
	p := &Place{context: inputvalues.Context{Env: inputvalues.Env{Options: s.options}}}
	if version == nil {
		return p, nil
	}
	return p, s.nameModule(ctx, p, version.ModuleDefinitionID, version.Version)
}

// nameModule lets the templates of a place name a module.
func (s *Service) nameModule(ctx context.Context, p *Place, definitionID, version string) error {
	module, err := s.Store.Client.ModuleDefinition.Get(ctx, definitionID)
	if err != nil {
		return err
	}
	p.context.Module = inputvalues.ModuleScope{ID: module.ID, Name: module.Name, Type: module.Type, Version: version}
	return nil
}

// live is what an instance was last deployed with.
type live struct {
	versionID string
	values    *strictjson.Node
}

// live gives what a deployment shipped, nil where its release is not stored any more or is not what was
// stored: what cannot be trusted binds nothing, and a new deployment is the way out.
func (s *Service) live(ctx context.Context, deploymentID string) (*live, error) {
	d, err := s.Store.Client.Deployment.Get(ctx, deploymentID)
	if err != nil || d.ReleaseID == nil {
		return nil, err
	}
	r, err := s.Store.Client.Release.Get(ctx, *d.ReleaseID)
	if err != nil {
		return nil, err
	}
	return shipped(ctx, r)
}

// shipped reads a release, nil where it is not what was stored.
func shipped(ctx context.Context, r *ent.Release) (*live, error) {
	if err := meter.Spend(ctx, meter.Inputs, len(r.Content)); err != nil {
		return nil, err
	}
	return opened(r)
}

// opened is shipped for what is not counted as work of a request.
func opened(r *ent.Release) (*live, error) {
	content, err := release.Open(r.Digest, r.Content)
	if errors.Is(err, release.ErrDigestMismatch) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	// With their defaults, values may be longer and deeper than those that are given.
	values, err := strictjson.ParseWithin(content.Inputs, strictjson.Limits{Depth: 2 * strictjson.MaxLevels, Bytes: math.MaxInt})
	return &live{content.ModuleVersionID, values}, err
}
