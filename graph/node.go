package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"slipway/graph/scalar"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/id"
	"slipway/internal/store"
)

// maxNodes is how many records can be asked for by id at once.
const maxNodes = 100

// node gives the record of an id, or NodeNotFound whatever kind of record it is that is not there.
func (r *Resolver) node(ctx context.Context, text string) (scalar.Node, error) {
	node, err := r.record(ctx, text)
	if err != nil && fault.Status(err) == 404 {
		return nil, store.Missing(text, fault.NodeNotFound)
	}
	return node, err
}

func (r *Resolver) record(ctx context.Context, text string) (scalar.Node, error) {
	if a := actor.From(ctx); a.IsAnonymous() {
		return nil, access.Check(a, access.Read, fault.RequestForbidden)
	}
	kind, _ := id.KindOf(text)
	switch kind {
	case id.Organization:
		return found(r.Accounts.OrganizationByID(ctx, text))
	case id.Project:
		return found(r.Workspace.Project(ctx, text))
	case id.Environment:
		return found(r.Workspace.Environment(ctx, text))
	case id.ModuleDefinition:
		return found(r.Catalog.Definition(ctx, text))
	case id.ModuleVersion:
		return found(r.Catalog.Version(ctx, text))
	case id.ModuleInstance:
		return found(r.Catalog.Instance(ctx, text))
	case id.Release:
		return found(r.Deploy.Release(ctx, text))
	case id.Deployment:
		return found(r.Deploy.Deployment(ctx, text))
	case id.DefaultValueDefinition:
		return found(r.Defaults.Definition(ctx, text))
	}
	return nil, store.Missing(text, fault.NodeNotFound)
}

// found keeps the nil of a pointer that was not found from becoming a node.
func found[T any](record *T, err error) (scalar.Node, error) {
	if err != nil {
		return nil, err
	}
	return record, nil
}

func (r *Resolver) nodes(ctx context.Context, ids []string) ([]scalar.Node, error) {
	if len(ids) > maxNodes {
		return nil, fault.New(fault.RequestInvalid, "ids must have at most %d items, got %d.", maxNodes, len(ids))
	}
	nodes := make([]scalar.Node, len(ids))
	for i, text := range ids {
		node, err := r.node(ctx, text)
		if err != nil {
			graphql.AddError(graphql.WithPathContext(ctx, graphql.NewPathWithIndex(i)), err)
			continue
		}
		nodes[i] = node
	}
	return nodes, nil
}
