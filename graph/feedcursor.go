package graph

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"

	"slipway/internal/data/page"
	"slipway/internal/data/record"
)

// asksForFeed reports whether the connection that is being resolved is asked for its place in the feed.
func asksForFeed(ctx context.Context) bool {
	return graphql.HasOperationContext(ctx) && slices.Contains(graphql.CollectAllFields(ctx), "feedCursor")
}

// feedCursor returns the place in the feed of changes, "" if the connection that is being resolved is not asked for
// it. It is to be called before the page is read: what changes meanwhile comes behind it.
func feedCursor(ctx context.Context, r *Resolver) (string, error) {
	if !asksForFeed(ctx) {
		return "", nil
	}
	head, err := r.Deploy.View.Feed.Head(ctx)
	return head.String(), err
}

func withFeedCursor(c *page.DeploymentConnection, cursor string) *page.DeploymentConnection {
	if c != nil {
		c.FeedCursor = cursor
	}
	return c
}

// deploymentsEdge returns the name of a field's edge to deployments of a record. Those with a feedCursor are read apart
// from those without, which may stand beside them under another name.
func deploymentsEdge(ctx context.Context, field string) string {
	if asksForFeed(ctx) {
		return field + " with feedCursor"
	}
	return field
}

type readDeployments = func(
	context.Context, []string, page.Args,
) (map[string]*page.Connection[*record.Deployment], error)

// withFeedCursors is feedCursor for the lists of several parents.
func withFeedCursors(r *Resolver, read readDeployments) readDeployments {
	return func(
		ctx context.Context, ids []string, args page.Args,
	) (map[string]*page.Connection[*record.Deployment], error) {
		head, err := feedCursor(ctx, r)
		if err != nil {
			return nil, err
		}
		pages, err := read(ctx, ids, args)
		for _, c := range pages {
			withFeedCursor(c, head)
		}
		return pages, err
	}
}
