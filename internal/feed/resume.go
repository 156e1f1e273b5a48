package feed

import (
	"context"
	"slices"
	"time"

	"slipway/internal/record"
	"slipway/internal/store"
)

// lookBack is how many changes before a cursor are looked at for versions that have passed later ones.
const lookBack = 200

// versions are the highest of each deployment that were seen.
type versions map[string]int32

func (v versions) of(deploymentID string) int32 { return v[deploymentID] }

// before checks a cursor, and returns the versions of the changes before it.
func (f *Feed) before(ctx context.Context, c Cursor) (versions, error) {
	if time.Since(c.At) > Retention-margin {
		return nil, expired("it is too old.")
	}
	seen := versions{}
	if c.Position == (store.Position{}) {
		return seen, nil
	}
	past, err := f.store.ChangesBefore(ctx, c.Position, lookBack)
	if err != nil {
		return nil, err
	}
	if len(past) == 0 || past[0].Position != c.Position || !past[0].At.Equal(c.At) {
		return nil, expired("the database does not have the change that it is behind, as after a restore.")
	}
	slices.Reverse(past)
	for _, change := range past {
		seen[change.DeploymentID] = max(seen[change.DeploymentID], change.Version)
	}
	if last := past[len(past)-1]; c.Before {
		seen[last.DeploymentID] = last.Version - 1
	}
	return seen, nil
}

// resume sends what has changed between the cursor and the place where the feed's reader goes on, and then what that
// has put into the queue.
func (s *subscription) resume(ctx context.Context, seen versions) {
	select {
	case s.feed.resuming <- struct{}{}:
	case <-s.gone:
		s.close()
		return
	}
	isOver, err := s.catchUp(ctx, seen)
	<-s.feed.resuming
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

// catchUp sends what has changed until the feed's reader goes on, and reports whether nothing comes after it.
func (s *subscription) catchUp(ctx context.Context, seen versions) (isOver bool, err error) {
	hasEnded, err := s.hasEnded(ctx)
	if err != nil {
		return false, err
	}
	isComing := false // whether the feed's reader has changes of the one deployment
	for at := s.After.begins(); ; {
		page, err := s.feed.store.ChangesAfter(ctx, at, pageSize)
		if err != nil {
			return false, err
		}
		for i := range page {
			at = page[i].Position
			if at.Compare(s.from) > 0 {
				page[i].Settled = false
				isComing = isComing || page[i].DeploymentID == s.DeploymentID
			}
		}
		if isOver, err := s.sendPage(ctx, page, seen); err != nil || isOver {
			return isOver, err
		}
		if len(page) < pageSize || s.DeploymentID == "" && at.Compare(s.from) > 0 {
			return hasEnded && !isComing, nil
		}
	}
}

// hasEnded reports whether the one deployment that is followed has ended. The change that ended it is in the feed then:
// before the cursor, where it is nowhere after it.
func (s *subscription) hasEnded(ctx context.Context) (bool, error) {
	if s.DeploymentID == "" {
		return false, nil
	}
	found, err := record.Deployments.In(s.feed.store).ByIDs(record.Whole(ctx), []string{s.DeploymentID})
	return len(found) > 0 && found[0].CompletedAt != nil, err
}

// sendPage sends what is followed of a page of changes, and reports whether nothing comes after it.
func (s *subscription) sendPage(ctx context.Context, page []store.Change, seen versions) (isOver bool, err error) {
	events := merge(page, seen.of)
	for _, e := range events {
		seen[e.DeploymentID] = e.Version
	}
	if s.DeploymentID != "" {
		events = slices.DeleteFunc(events, func(e event) bool { return e.DeploymentID != s.DeploymentID })
	}
	items, err := s.feed.items(ctx, events)
	if err != nil {
		return false, err
	}
	for _, item := range items {
		if item == nil || !s.wants(item) {
			continue
		}
		if !s.send(item) || s.isLast(item) {
			return true, nil
		}
	}
	return false, nil
}
