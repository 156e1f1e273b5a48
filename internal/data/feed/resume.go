package feed

import (
	"context"
	"slices"
	"time"

	"slipway/ent/deployment"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
	"slipway/internal/pure/feedcursor"
)

// lookBack is how many changes before a cursor are looked at for versions that have passed later ones.
const lookBack = 200

// before checks a cursor, and returns the versions of the changes before it.
func (f *Feed) before(ctx context.Context, c feedcursor.Cursor) (seen *versions, err error) {
	if time.Since(c.At) > Retention-margin {
		return nil, expired("it is too old.")
	}

	seen = newVersions()
	if c.Position == (feedcursor.Position{}) {
		return seen, nil
	}

	var past []store.Change
	err = f.Read(ctx, func(ctx context.Context) (err error) {
		past, err = f.store.ChangesBefore(ctx, c.Position, lookBack)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(past) == 0 || past[0].Position != c.Position || !past[0].At.Equal(c.At) {
		return nil, expired("the database does not have the change that it is behind, as after a restore.")
	}

	slices.Reverse(past)
	for _, change := range past {
		seen.last.Add(change.DeploymentID, max(seen.of(change.DeploymentID), change.Version))
	}
	if last := past[len(past)-1]; c.Before {
		seen.last.Add(last.DeploymentID, last.Version-1)
	}
	return seen, nil
}

// resume sends what has changed between the cursor and the place where the feed's reader goes on, and then what that
// has put into the queue.
func (s *subscription) resume(ctx context.Context, seen *versions) {
	isOver, err := s.catchUp(ctx, seen)
	switch {
	case err != nil && ctx.Err() == nil:
		s.send(&Item{Err: err})
		fallthrough
	case err != nil || isOver:
		s.close()
	default:
		s.sendQueue()
	}
}

// maxHeld is how many deployments a subscription reads before it sends them, and so how many of them it keeps of a
// client who takes nothing.
const maxHeld = 8

// catchUp sends what has changed until the feed's reader goes on, and reports whether nothing comes after it. It reads
// a page of changes, which are short, and then a few deployments right before they are sent.
func (s *subscription) catchUp(ctx context.Context, seen *versions) (isOver bool, err error) {
	hasEnded, err := s.hasEnded(ctx)
	if err != nil {
		return false, err
	}

	isComing := false // whether the feed's reader has changes of the one deployment
	for at := s.After.Begins(); ; {
		page, err := s.changesAfter(ctx, at)
		if err != nil {
			return false, err
		}

		isComing = s.leaveToReader(page) || isComing
		if isOver, err := s.sendPage(ctx, page, seen); err != nil || isOver {
			return isOver, err
		}

		if len(page) < pageSize {
			return hasEnded && !isComing, nil
		}
		at = page[len(page)-1].Position
		if s.DeploymentID == "" && at.Compare(s.from) > 0 {
			return false, nil
		}
	}
}

// changesAfter reads the page of changes after a position.
func (s *subscription) changesAfter(ctx context.Context, at feedcursor.Position) (page []store.Change, err error) {
	err = s.feed.Read(ctx, func(ctx context.Context) (err error) {
		page, err = s.feed.store.ChangesAfter(ctx, at, pageSize)
		return err
	})
	return page, err
}

// leaveToReader keeps the changes from being sent that the feed's reader sends, as if they were not settled yet, and
// reports whether some are of the one deployment.
func (s *subscription) leaveToReader(page []store.Change) (isComing bool) {
	for i := range page {
		if page[i].Compare(s.from) > 0 {
			page[i].Settled = false
			isComing = isComing || page[i].DeploymentID == s.DeploymentID
		}
	}
	return isComing
}

// hasEnded reports whether the one deployment that is followed has ended. The change that ended it is in the feed then:
// before the cursor, if it is nowhere after it.
func (s *subscription) hasEnded(ctx context.Context) (has bool, err error) {
	if s.DeploymentID == "" {
		return false, nil
	}
	err = s.feed.Read(ctx, func(ctx context.Context) error {
		found, err := record.Deployments.In(s.feed.store).ByIDs(record.WithColumns(ctx, endColumns), []string{s.DeploymentID})
		has = len(found) > 0 && found[0].CompletedAt != nil
		return err
	})
	return has, err
}

// endColumns are what tells whether a deployment has ended.
var endColumns = record.NewColumns(map[string][]string{deployment.Table: {deployment.FieldCompletedAt}})

// sendPage sends what is followed of a page of changes, and reports whether nothing comes after it.
func (s *subscription) sendPage(ctx context.Context, page []store.Change, seen *versions) (isOver bool, err error) {
	events := merge(page, seen.of)
	seen.add(events)
	if events, err = s.followed(ctx, events); err != nil {
		return false, err
	}

	for few := range slices.Chunk(events, maxHeld) {
		var items []*Item
		err := s.feed.Read(ctx, func(ctx context.Context) (err error) {
			items, err = s.feed.items(ctx, few)
			return err
		})
		if err != nil {
			return false, err
		}

		for _, item := range items {
			if item == nil || !s.wants(item.Deployment) {
				continue
			}
			if !s.send(item) || s.isLast(item) {
				return true, nil
			}
		}
	}
	return false, nil
}

// followed returns the events of deployments that are followed, as far as the columns tell that decide about it. So it
// does not read whole what is not sent, and reads a page at a time.
func (s *subscription) followed(ctx context.Context, events []event) ([]event, error) {
	if s.DeploymentID != "" {
		return slices.DeleteFunc(events, func(e event) bool { return e.DeploymentID != s.DeploymentID }), nil
	}
	if s.Matches == nil || len(events) == 0 {
		return events, nil
	}
	var of map[string]*record.Deployment
	err := s.feed.Read(ctx, func(ctx context.Context) (err error) {
		of, err = s.feed.deployments(ctx, events, s.Columns)
		return err
	})
	return slices.DeleteFunc(events, func(e event) bool {
		d := of[e.DeploymentID]
		return d == nil || !s.wants(d)
	}), err
}
