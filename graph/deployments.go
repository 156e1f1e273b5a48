package graph

import (
	"context"

	"slipway/graph/model"
	"slipway/internal/base/actor"
	"slipway/internal/data/page"
	"slipway/internal/service/deployment/view"
)

// deploymentsOf returns a page of a record's deployments, nil to a caller without a token.
func deploymentsOf[P any](
	ctx context.Context, r *Resolver, parent *P, kind view.Parent, idOf func(*P) string,
	filter *model.DeploymentFilter, order model.DeploymentOrder, args page.Args,
) (*page.DeploymentConnection, error) {
	if actor.From(ctx).IsAnonymous() {
		return nil, nil
	}

	f, name := deploymentList(filter, order), "deployments"
	if filter != nil || f.LastCompleted {
		name += page.FilterText(f)
	}
	read := func(
		ctx context.Context, ids []string, args page.Args,
	) (map[string]*page.DeploymentConnection, error) {
		return r.Deploy.View.DeploymentsOf(ctx, kind, ids, f, args)
	}
	return loadPage(ctx, parent, deploymentsEdge(ctx, name), args, idOf, withFeedCursors(r, read))
}
