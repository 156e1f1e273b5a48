package view

import (
	"context"

	"slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/feed"
	"slipway/internal/data/record"
	"slipway/internal/pure/feedcursor"
	"slipway/internal/service/access"
)

// Follow returns the changes of a deployment until it has ended, the last of them as the one that COMPLETED it, or ctx
// ends: without after it as it is now and then each change, and with after, a cursor of the feed, each change since.
// It fails with DeploymentNotFound, DeploymentForbidden, RequestCursorInvalid and FeedCursorExpired; see feed.Feed for
// what may fail later.
func (s *Service) Follow(ctx context.Context, deploymentID string, after *string) (<-chan *feed.Item, error) {
	cursor, err := s.cursor(ctx, after)
	if err != nil {
		return nil, err
	}
	if cursor != nil {
		err := s.Feed.Read(ctx, func(ctx context.Context) error {
			_, err := s.Deployment(record.WithColumns(ctx, endColumns), deploymentID)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return s.Feed.Subscribe(ctx, feed.Following{
		DeploymentID: deploymentID, After: cursor,
		First: func(ctx context.Context) (*feed.Item, error) { return s.asItem(ctx, deploymentID) },
	})
}

// FollowAll returns the changes of the organization's deployments that meet the conditions of a filter, until ctx ends:
// those from now on or, with a cursor of the feed, those since. One that meets them no more, or never did, because of
// what can change is sent as feed.Left. It fails as Follow does.
func (s *Service) FollowAll(ctx context.Context, f Filter, after *string) (<-chan *feed.Item, error) {
	if f.AwaitingMyApproval {
		return nil, fault.Invalid(fault.RequestInvalid, fault.Violation{Pointer: "/filter/awaitingMyApproval", Rule: "list",
			Message: "is for lists only: a deployment by itself does not tell it; follow the status AWAITING_APPROVAL"})
	}
	if err := f.check(""); err != nil {
		return nil, err
	}
	cursor, err := s.cursor(ctx, after)
	if err != nil {
		return nil, err
	}

	all := feed.Following{After: cursor}
	if list := f.comparisons(); len(list) > 0 {
		var columns []string
		for _, c := range list {
			columns = append(columns, c.Column())
		}
		all.Columns = record.NewColumns(map[string][]string{deployment.Table: columns})
		all.Matches = func(d *record.Deployment) bool { return record.Deployments.Matches(d, list) }
		if lasting := f.lasting().comparisons(); len(lasting) < len(list) {
			all.Leaves = func(d *record.Deployment) bool { return record.Deployments.Matches(d, lasting) }
		}
	}

	return s.Feed.Subscribe(ctx, all)
}

// cursor checks that the caller may read deployments, and returns the cursor of a text, nil for none.
func (s *Service) cursor(ctx context.Context, after *string) (*feedcursor.Cursor, error) {
	if err := access.Check(actor.From(ctx), access.Read, fault.DeploymentForbidden); err != nil || after == nil {
		return nil, err
	}
	c, err := feedcursor.Parse(*after)
	return &c, err
}

// asItem returns a deployment as it is now, with a cursor behind which nothing later is missing.
func (s *Service) asItem(ctx context.Context, deploymentID string) (*feed.Item, error) {
	var head feedcursor.Cursor
	var d *record.Deployment
	err := s.Feed.Read(ctx, func(ctx context.Context) (err error) {
		if head, err = s.Feed.Head(ctx); err == nil {
			d, err = s.Deployment(record.Whole(ctx), deploymentID)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	kind := feed.Kind(record.KindOfChange(d.Version, d.CompletedAt != nil))
	return &feed.Item{Cursor: head.String(), Kind: kind, Version: d.Version, Deployment: d}, nil
}
