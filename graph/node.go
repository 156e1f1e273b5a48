package graph

import (
	"cmp"
	"context"

	"github.com/99designs/gqlgen/graphql"

	"slipway/ent"
	"slipway/graph/scalar"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/id"
	"slipway/internal/store"
)

// maxNodes is how many records can be asked for by id at once.
const maxNodes = 100

// kind is how records of one kind are read by their ids.
type kind struct {
	// anywhere marks what a superadmin sees without naming an organization.
	anywhere bool
	read     func(context.Context, []string) (map[string]scalar.Node, error)
}

// kinds has every kind of record that is a Node.
func (r *Resolver) kinds() map[id.Kind]kind {
	return map[id.Kind]kind{
		id.Organization:           {true, byID(r.Accounts.OrganizationsByID, func(o *ent.Organization) string { return o.ID })},
		id.Token:                  {true, byID(r.Accounts.TokensByID, func(t *ent.Token) string { return t.ID })},
		id.ModuleDefinition:       {true, byID(r.Catalog.DefinitionsByID, definitionID)},
		id.ModuleVersion:          {true, byID(r.Catalog.VersionsByID, versionID)},
		id.Project:                {false, byID(r.Workspace.ProjectsByID, projectID)},
		id.Environment:            {false, byID(r.Workspace.EnvironmentsByID, environmentID)},
		id.ModuleInstance:         {false, byID(r.Catalog.InstancesByID, instanceID)},
		id.Release:                {false, byID(r.Deploy.ReleasesByID, releaseID)},
		id.Deployment:             {false, byID(r.Deploy.DeploymentsByID, deploymentID)},
		id.DefaultValueDefinition: {false, byID(r.Defaults.DefinitionsByID, func(d *ent.DefaultValueDefinition) string { return d.ID })},
	}
}

// byID makes what the ids lead to a family, and nodes by their ids.
func byID[T any](read func(context.Context, []string) ([]*T, error), idOf func(*T) string) func(context.Context, []string) (map[string]scalar.Node, error) {
	return func(ctx context.Context, ids []string) (map[string]scalar.Node, error) {
		records, err := read(ctx, ids)
		if err != nil {
			return nil, err
		}
		together(ctx, records)
		nodes := make(map[string]scalar.Node, len(records))
		for _, record := range records {
			nodes[idOf(record)] = record
		}
		return nodes, nil
	}
}

// node gives the record of an id, or NodeNotFound, whatever kind of record it is that is not there.
func (r *Resolver) node(ctx context.Context, text string) (scalar.Node, error) {
	nodes, err := r.records(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	if nodes[text] == nil {
		return nil, store.Missing(text, fault.NodeNotFound)
	}
	return nodes[text], nil
}

// nodes gives the records of ids, in one statement a kind; for what is not there it adds an error.
func (r *Resolver) nodes(ctx context.Context, ids []string) ([]scalar.Node, error) {
	if len(ids) > maxNodes {
		return nil, fault.New(fault.RequestInvalid, "ids must have at most %d items, got %d.", maxNodes, len(ids))
	}
	found, err := r.records(ctx, ids)
	nodes := make([]scalar.Node, len(ids))
	for i, text := range ids {
		if nodes[i] = found[text]; nodes[i] == nil {
			// The list is never null, so what refuses all of it is told of each.
			refusal := cmp.Or(err, store.Missing(text, fault.NodeNotFound))
			graphql.AddError(graphql.WithPathContext(ctx, graphql.NewPathWithIndex(i)), refusal)
		}
	}
	return nodes, nil
}

func (r *Resolver) records(ctx context.Context, ids []string) (map[string]scalar.Node, error) {
	a := actor.From(ctx)
	if a.IsAnonymous() {
		return nil, access.Check(a, access.Read, fault.RequestForbidden)
	}
	ofKind := map[id.Kind][]string{}
	for _, text := range ids {
		if k, ok := id.KindOf(text); ok {
			ofKind[k] = append(ofKind[k], text)
		}
	}
	all := map[string]scalar.Node{}
	for name, k := range r.kinds() {
		if len(ofKind[name]) == 0 {
			continue
		}
		if !k.anywhere {
			if err := access.Check(a, access.Read, fault.RequestForbidden); err != nil {
				return nil, err
			}
		}
		nodes, err := k.read(ctx, ofKind[name])
		if err != nil {
			return nil, err
		}
		for text, node := range nodes {
			all[text] = node
		}
	}
	return all, nil
}
