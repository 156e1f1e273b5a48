package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"slipway/ent"
	"slipway/graph/scalar"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
	"slipway/internal/service/access"
	"slipway/internal/service/deployment/waiting"
)

// maxNodes is how many records can be asked for by id at once.
const maxNodes = 100

// kind describes how records of one kind are read by their ids.
type kind struct {
	// anywhere marks what a superadmin sees without naming an organization.
	anywhere bool
	read     func(context.Context, []string) (map[string]scalar.Node, error)
}

// kinds returns every kind of record that is a Node. What not every role may read, its service refuses.
func (r *Resolver) kinds() map[id.Kind]kind {
	return map[id.Kind]kind{
		id.Organization: {
			true, byID(r.Accounts.OrganizationsByID, func(o *ent.Organization) string { return o.ID }),
		},
		id.Token:            {true, byID(r.Accounts.TokensByID, func(t *ent.Token) string { return t.ID })},
		id.ModuleDefinition: {true, byID(r.Catalog.DefinitionsByID, definitionID)},
		id.ModuleVersion:    {true, byID(r.Catalog.VersionsByID, versionID)},
		id.Project:          {false, byID(r.Workspace.ProjectsByID, projectID)},
		id.Environment:      {false, byID(r.Workspace.EnvironmentsByID, environmentID)},
		id.ModuleInstance:   {false, byID(r.Catalog.InstancesByID, instanceID)},
		id.Release:          {false, byID(r.Deploy.Releases.ReleasesByID, releaseID)},
		id.Deployment:       {false, byID(r.Deploy.View.DeploymentsByID, deploymentID)},
		id.Rule:             {false, byID(r.Rules.RulesByID, func(r *ent.Rule) string { return r.ID })},
		id.Approval: {
			false, byID(r.Deploy.Waiting.ApprovalsByID, func(b *waiting.Approval) string { return b.ID }),
		},
		id.Quarantine: {
			false, byID(r.Deploy.Releases.QuarantinesByID, func(q *ent.Quarantine) string { return q.ID }),
		},
		id.AuditEvent: {true, byID(r.Accounts.AuditEventsByID, func(e *ent.AuditEvent) string { return e.ID })},
		id.DefaultValueDefinition: {
			false, byID(r.Defaults.DefinitionsByID, func(d *record.DefaultValueDefinition) string { return d.ID }),
		},
		// These are no nodes.
		id.IdempotencyKey: {},
		id.Lease:          {},
	}
}

// byID returns a function that reads records as nodes by their ids, and makes them a batch.
func byID[T any](
	read func(context.Context, []string) ([]*T, error), idOf func(*T) string,
) func(context.Context, []string) (map[string]scalar.Node, error) {
	return func(ctx context.Context, ids []string) (map[string]scalar.Node, error) {
		records, err := read(ctx, ids)
		if err != nil {
			return nil, err
		}
		registerBatch(ctx, records)
		nodes := make(map[string]scalar.Node, len(records))
		for _, record := range records {
			nodes[idOf(record)] = record
		}
		return nodes, nil
	}
}

// lookup is what an id names: a record, or why there is none.
type lookup struct {
	node scalar.Node
	err  error
}

// node returns the record of an id, or NodeNotFound, whatever kind of record it is that is not there.
func (r *Resolver) node(ctx context.Context, text string) (scalar.Node, error) {
	found := r.lookUp(ctx, []string{text})[text]
	return found.node, found.err
}

// nodes returns the records of ids, in one statement a kind; for what is not there it adds an error.
func (r *Resolver) nodes(ctx context.Context, ids []string) ([]scalar.Node, error) {
	if len(ids) > maxNodes {
		return nil, fault.New(fault.RequestInvalid, "ids must have at most %d items, got %d.", maxNodes, len(ids))
	}
	all := r.lookUp(ctx, ids)
	nodes := make([]scalar.Node, len(ids))
	for i, text := range ids {
		if nodes[i] = all[text].node; nodes[i] == nil {
			graphql.AddError(graphql.WithPathContext(ctx, graphql.NewPathWithIndex(i)), all[text].err)
		}
	}
	return nodes, nil
}

// lookUp returns the record of each id, or the error of its kind: a kind that the caller may not read does not
// keep the others from being read.
func (r *Resolver) lookUp(ctx context.Context, ids []string) map[string]lookup {
	all := make(map[string]lookup, len(ids))
	ofKind := map[id.Kind][]string{}
	for _, text := range ids {
		all[text] = lookup{err: store.NotFound(text, fault.NodeNotFound)}
		k, _ := id.KindOf(text)
		ofKind[k] = append(ofKind[k], text)
	}

	kinds := r.kinds()
	for name, of := range ofKind {
		nodes, err := kinds[name].records(ctx, of)
		for _, text := range of {
			if err != nil {
				all[text] = lookup{err: err}
			} else if node := nodes[text]; node != nil {
				all[text] = lookup{node: node}
			}
		}
	}

	return all
}

// records returns the records of the ids by their ids, without those that are not there. Of the zero kind, that of
// an id of no known form, there are none.
func (k kind) records(ctx context.Context, ids []string) (map[string]scalar.Node, error) {
	a := actor.From(ctx)
	if a.IsAnonymous() || k.read != nil && !k.anywhere {
		if err := access.Check(a, access.Read, fault.RequestForbidden); err != nil {
			return nil, err
		}
	}
	if k.read == nil {
		return nil, nil
	}
	return k.read(ctx, ids)
}
