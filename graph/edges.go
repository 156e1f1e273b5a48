package graph

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/data/page"
	"slipway/internal/data/record"
	"slipway/internal/service/catalog"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/workspace"
)

// The edges of the schema: each names the field, the reference, and the service method that reads what
// the reference names.

func projectID(p *record.Project) string             { return p.ID }
func environmentID(e *record.Environment) string     { return e.ID }
func definitionID(d *record.ModuleDefinition) string { return d.ID }
func versionID(v *record.ModuleVersion) string       { return v.ID }
func instanceID(i *record.ModuleInstance) string     { return i.ID }
func releaseID(r *record.Release) string             { return r.ID }
func deploymentID(d *record.Deployment) string       { return d.ID }

// What a reference names, with nothing but its id.
func projectOf(id string) *record.Project             { return &record.Project{ID: id} }
func environmentOf(id string) *record.Environment     { return &record.Environment{ID: id} }
func definitionOf(id string) *record.ModuleDefinition { return &record.ModuleDefinition{ID: id} }
func versionOf(id string) *record.ModuleVersion       { return &record.ModuleVersion{ID: id} }
func instanceOf(id string) *record.ModuleInstance     { return &record.ModuleInstance{ID: id} }
func releaseOf(id string) *record.Release             { return &record.Release{ID: id} }
func deploymentOf(id string) *record.Deployment       { return &record.Deployment{ID: id} }

func toProject[P any](
	ctx context.Context, r *Resolver, parent *P, reference func(*P) *string,
) (*record.Project, error) {
	return loadOne(ctx, parent, "project", reference, r.Workspace.ProjectsByID, projectID, projectOf)
}

func toEnvironment[P any](
	ctx context.Context, r *Resolver, parent *P, reference func(*P) *string,
) (*record.Environment, error) {
	return loadOne(ctx, parent, "environment", reference, r.Workspace.EnvironmentsByID, environmentID, environmentOf)
}

func toDefinition[P any](
	ctx context.Context, r *Resolver, parent *P, reference func(*P) *string,
) (*record.ModuleDefinition, error) {
	return loadOne(ctx, parent, "moduleDefinition", reference, r.Catalog.DefinitionsByID, definitionID, definitionOf)
}

func toVersion[P any](
	ctx context.Context, r *Resolver, parent *P, reference func(*P) *string,
) (*record.ModuleVersion, error) {
	return toVersionAs(ctx, r, parent, "moduleVersion", reference)
}

// toVersionAs takes the name of the field, because a record may have several edges to versions.
func toVersionAs[P any](
	ctx context.Context, r *Resolver, parent *P, name string, reference func(*P) *string,
) (*record.ModuleVersion, error) {
	return loadOne(ctx, parent, name, reference, r.Catalog.VersionsByID, versionID, versionOf)
}

func toInstance[P any](
	ctx context.Context, r *Resolver, parent *P, reference func(*P) *string,
) (*record.ModuleInstance, error) {
	return loadOne(ctx, parent, "moduleInstance", reference, r.Catalog.InstancesByID, instanceID, instanceOf)
}

func toRelease[P any](
	ctx context.Context, r *Resolver, parent *P, reference func(*P) *string,
) (*record.Release, error) {
	return loadOne(ctx, parent, "release", reference, r.Deploy.Releases.ReleasesByID, releaseID, releaseOf)
}

// toDeployment takes the name of the field, because a record has several edges to deployments.
func toDeployment[P any](
	ctx context.Context, r *Resolver, parent *P, name string, reference func(*P) *string,
) (*record.Deployment, error) {
	return loadOne(ctx, parent, name, reference, r.Deploy.View.DeploymentsByID, deploymentID, deploymentOf)
}

// deploymentOfInstance returns one of the deployments of an instance, nil if there is none. read returns that of
// each instance that has one.
func deploymentOfInstance(
	ctx context.Context, i *record.ModuleInstance, name string,
	read func(context.Context, []string) (map[string]*record.Deployment, error),
) (*record.Deployment, error) {
	return loadEach(ctx, i, name, instanceID,
		func(ctx context.Context, ids []string) (map[string]*record.Deployment, error) {
			of, err := read(ctx, ids)
			registerBatch(ctx, slices.Collect(maps.Values(of)))
			return of, err
		})
}

// eligibilities returns whether a deployment can be rolled back to and redeployed; both are read at once.
func eligibilities(ctx context.Context, r *Resolver, d *record.Deployment) (admission.Eligibilities, error) {
	return loadEach(ctx, d, "eligibilities", deploymentID,
		func(ctx context.Context, ids []string) (map[string]admission.Eligibilities, error) {
			all, err := r.Deploy.Admission.Eligibilities(ctx, ids)
			var blockers []*record.Deployment
			for _, both := range all {
				for _, e := range []*admission.Eligibility{both.Rollback, both.Redeploy} {
					if e.BlockedBy != nil && !slices.Contains(blockers, e.BlockedBy) {
						blockers = append(blockers, e.BlockedBy)
					}
				}
			}
			registerBatch(ctx, blockers)
			return all, err
		})
}

// cancelEligibility returns whether a deployment can be canceled now, by force or not. Its batch is judged by one time.
func cancelEligibility(
	ctx context.Context, r *Resolver, d *record.Deployment, force bool,
) (*admission.Eligibility, error) {
	var at time.Time
	if force {
		b, err := batchOf(ctx, d)
		if err != nil {
			return nil, err
		}
		read := func([]*record.Deployment) (time.Time, error) { return r.Deploy.Execution.Journal.Clock(ctx) }
		if at, err = readOnce(b, "clock", read); err != nil {
			return nil, err
		}
	}
	judged := &ent.Deployment{
		ID: d.ID, ProjectID: d.ProjectID, EnvironmentID: d.EnvironmentID, Status: d.Status, TriggerSource: d.TriggerSource,
		LeaseExpiresAt: d.LeaseExpiresAt, CancelRequestedAt: d.CancelRequestedAt,
	}
	return r.Deploy.Execution.CancelEligibility(ctx, judged, force, at)
}

// liveOutputs returns the outputs of what is live of an instance, nil for none.
func liveOutputs(ctx context.Context, r *Resolver, i *record.ModuleInstance) (json.RawMessage, error) {
	if i.LiveDeploymentID == nil {
		return nil, nil
	}
	liveID := func(i *record.ModuleInstance) string {
		if i.LiveDeploymentID == nil {
			return ""
		}
		return *i.LiveDeploymentID
	}
	return loadEach(ctx, i, "outputs", liveID, r.Deploy.View.OutputsOf)
}

// givenFrom returns the id of the deployment that has what was given to one, "" if nothing is kept.
func givenFrom(d *record.Deployment) string {
	if d.GivenFrom == nil {
		return ""
	}
	return *d.GivenFrom
}

// givenInputs returns what was given for the inputs of a deployment, nil if nothing is kept.
func givenInputs(ctx context.Context, r *Resolver, d *record.Deployment) (json.RawMessage, error) {
	if d.GivenFrom == nil {
		return nil, nil
	}
	return loadEach(ctx, d, "givenInputs", givenFrom, r.Inputs.GivenInputs)
}

// referencesOf returns a page of the references of what a deployment ships, an empty one if nothing is kept.
func referencesOf(
	ctx context.Context, r *Resolver, d *record.Deployment, args page.Args,
) (*page.DeploymentReferenceConnection, error) {
	if d.GivenFrom == nil {
		return page.Slice[*ent.DeploymentReference](nil, args, page.Scope{List: "deployment.references"})
	}
	return loadPage(ctx, d, "references", args, givenFrom, r.Deploy.View.ReferencesOf)
}

// quarantineOf returns the quarantine of a release that holds now, or nil.
func quarantineOf(ctx context.Context, r *Resolver, rel *record.Release) (*ent.Quarantine, error) {
	return loadEach(ctx, rel, "quarantine", releaseID,
		func(ctx context.Context, ids []string) (map[string]*ent.Quarantine, error) {
			of, err := r.Deploy.Releases.HoldingOf(ctx, ids)
			registerBatch(ctx, slices.Collect(maps.Values(of)))
			return of, err
		})
}

// environmentsOf returns a page of a project's environments.
func environmentsOf(
	ctx context.Context, r *Resolver, p *record.Project, f workspace.EnvironmentFilter, args page.Args,
) (*page.EnvironmentConnection, error) {
	read := func(ctx context.Context, ids []string, args page.Args) (map[string]*page.EnvironmentConnection, error) {
		return r.Workspace.EnvironmentsOf(ctx, ids, f, args)
	}
	return loadPage(ctx, p, "environments"+page.FilterText(f), args, projectID, read)
}

// instancesIn returns a page of a record's instances, nil to a caller without a token.
func instancesIn[P any](
	ctx context.Context, r *Resolver, parent *P, kind catalog.InstanceParent, idOf func(*P) string,
	f catalog.InstanceFilter, args page.Args,
) (*page.ModuleInstanceConnection, error) {
	if actor.From(ctx).IsAnonymous() {
		return nil, nil
	}
	read := func(ctx context.Context, ids []string, args page.Args) (map[string]*page.ModuleInstanceConnection, error) {
		return r.Catalog.InstancesOf(ctx, kind, ids, f, args)
	}
	return loadPage(ctx, parent, "moduleInstances"+page.FilterText(f), args, idOf, read)
}

// liveInstancesOf returns a page of the instances in which a release of a version is live, nil to a caller without a
// token.
func liveInstancesOf(
	ctx context.Context, r *Resolver, v *record.ModuleVersion, f catalog.InstanceFilter, args page.Args,
) (*page.ModuleInstanceConnection, error) {
	if actor.From(ctx).IsAnonymous() {
		return nil, nil
	}
	read := func(ctx context.Context, ids []string, args page.Args) (map[string]*page.ModuleInstanceConnection, error) {
		return r.Catalog.LiveOf(ctx, ids, f, args)
	}
	return loadPage(ctx, v, "liveModuleInstances"+page.FilterText(f), args, versionID, read)
}
