package graph

import (
	"context"
	"slices"

	"slipway/ent"
	"slipway/internal/deployment"
)

// The edges of the schema: each names the field, the reference, and the service method that reads what
// it leads to.

func projectID(p *ent.Project) string             { return p.ID }
func environmentID(e *ent.Environment) string     { return e.ID }
func definitionID(d *ent.ModuleDefinition) string { return d.ID }
func versionID(v *ent.ModuleVersion) string       { return v.ID }
func instanceID(i *ent.ModuleInstance) string     { return i.ID }
func releaseID(r *ent.Release) string             { return r.ID }
func deploymentID(d *ent.Deployment) string       { return d.ID }

func toProject[P any](ctx context.Context, r *Resolver, parent *P, reference func(*P) *string) (*ent.Project, error) {
	return one(ctx, parent, "project", reference, r.Workspace.ProjectsByID, projectID)
}

func toEnvironment[P any](ctx context.Context, r *Resolver, parent *P, reference func(*P) *string) (*ent.Environment, error) {
	return one(ctx, parent, "environment", reference, r.Workspace.EnvironmentsByID, environmentID)
}

func toDefinition[P any](ctx context.Context, r *Resolver, parent *P, reference func(*P) *string) (*ent.ModuleDefinition, error) {
	return one(ctx, parent, "moduleDefinition", reference, r.Catalog.DefinitionsByID, definitionID)
}

func toVersion[P any](ctx context.Context, r *Resolver, parent *P, reference func(*P) *string) (*ent.ModuleVersion, error) {
	return one(ctx, parent, "moduleVersion", reference, r.Catalog.VersionsByID, versionID)
}

func toInstance[P any](ctx context.Context, r *Resolver, parent *P, reference func(*P) *string) (*ent.ModuleInstance, error) {
	return one(ctx, parent, "moduleInstance", reference, r.Catalog.InstancesByID, instanceID)
}

func toRelease[P any](ctx context.Context, r *Resolver, parent *P, reference func(*P) *string) (*ent.Release, error) {
	return one(ctx, parent, "release", reference, r.Deploy.ReleasesByID, releaseID)
}

// toDeployment takes the name of the field, because a record has several edges to deployments.
func toDeployment[P any](ctx context.Context, r *Resolver, parent *P, name string, reference func(*P) *string) (*ent.Deployment, error) {
	return one(ctx, parent, name, reference, r.Deploy.DeploymentsByID, deploymentID)
}

// eligibilities gives what both replays of a deployment would meet; it is read once for both.
func eligibilities(ctx context.Context, r *Resolver, d *ent.Deployment) (deployment.Eligibilities, error) {
	return each(ctx, d, "eligibilities", deploymentID, func(ctx context.Context, ids []string) (map[string]deployment.Eligibilities, error) {
		all, err := r.Deploy.Eligibilities(ctx, ids)
		var blockers []*ent.Deployment
		for _, both := range all {
			for _, e := range []*deployment.Eligibility{both.Rollback, both.Redeploy} {
				if e.BlockedBy != nil && !slices.Contains(blockers, e.BlockedBy) {
					blockers = append(blockers, e.BlockedBy)
				}
			}
		}
		together(ctx, blockers)
		return all, err
	})
}

func lineage(ctx context.Context, r *Resolver, d *ent.Deployment) ([]*ent.Deployment, error) {
	return each(ctx, d, "lineage", deploymentID, func(ctx context.Context, ids []string) (map[string][]*ent.Deployment, error) {
		lines, err := r.Deploy.Lineages(ctx, ids)
		var all []*ent.Deployment
		for _, line := range lines {
			all = append(all, line...)
		}
		together(ctx, all)
		return lines, err
	})
}

func quarantines(ctx context.Context, r *Resolver, rel *ent.Release) ([]*ent.Quarantine, error) {
	return each(ctx, rel, "quarantines", releaseID, r.Deploy.QuarantinesOf)
}

// quarantineOf gives the quarantine that holds now, or nil. Of two that were begun at once it may be the
// second in the list.
func quarantineOf(ctx context.Context, r *Resolver, rel *ent.Release) (*ent.Quarantine, error) {
	list, err := quarantines(ctx, r, rel)
	for _, q := range list {
		if r.Deploy.Holds(q) {
			return q, nil
		}
	}
	return nil, err
}

func compared(ctx context.Context, r *Resolver, from, to string) (*deployment.Comparison, error) {
	c, err := r.Deploy.Compare(ctx, from, to)
	if err != nil {
		return nil, err
	}
	together(ctx, []*ent.Deployment{c.From, c.To})
	together(ctx, []*ent.ModuleVersion{c.FromVersion, c.ToVersion})
	return c, nil
}
