package feed

import (
	"context"
	"slices"
	"time"

	"slipway/ent/deploymentchange"
	"slipway/internal/base/actor"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
	"slipway/internal/pure/feedcursor"
)

const (
	// lookEvery is how late changes are found of which no notification came.
	lookEvery = time.Second
	// spacing is the least time between two looks, so that changes that come fast are read together.
	spacing = 5 * time.Millisecond
	// linger is how long the reader goes on when nobody follows anything any more.
	linger = 10 * time.Second
	// pageSize is how many changes are read at once, and so how many deployments.
	pageSize = 200
)

// reader reads the table of changes for all who follow something on this server.
type reader struct {
	feed  *Feed
	woken chan struct{}
	// ready is closed when the reader has a position: what changes from then on is sent.
	ready chan struct{}
	// position is that of the last change that was read and sent.
	position feedcursor.Position
	// taken is that of the last change of which it was decided who follows it: a subscription that begins now is sent
	// what comes after it. It is under the feed's mutex.
	taken feedcursor.Position
	// seen are the versions that were sent.
	seen *versions
	// logLines is how many lines the logs that are watched had last.
	logLines map[string]int64
	// unread is the first change that the last look has left unread, and behindSince when a look did so first, or looks
	// began to fail; zero if the last has left none. Both are under the feed's mutex.
	unread      feedcursor.Position
	behindSince time.Time
	// failures is how many looks have failed since the last that did not.
	failures int
}

// wake has the reader look at once.
func (r *reader) wake() {
	select {
	case r.woken <- struct{}{}:
	default:
	}
}

// run reads until nobody has followed anything for a while, or the store is closed.
func (r *reader) run() {
	ctx, cancel := context.WithCancel(actor.WithServer(context.Background(), ""))
	defer cancel()

	listening := r.feed.store.Listen(ctx)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	again := newRepetition()
	defer again.due.Stop()

	for {
		isTick := false
		select {
		case <-r.woken:
		case n, open := <-listening:
			if !open {
				r.feed.stop(r)
				return
			}
			r.feed.waiters.wakeLogs(n.Logs...)
			if !n.Deployments {
				continue
			}
		case <-tick.C:
			if r.feed.isIdle(r) {
				return
			}
			isTick = true
		case <-again.due.C:
		}

		if waits, err := r.lookAround(ctx, isTick); err == nil {
			again.plan(waits)
			<-time.After(spacing)
		}
	}
}

// repetition is when a reader looks again for changes that wait for earlier ones.
type repetition struct {
	due  *time.Timer
	wait time.Duration
}

// newRepetition returns one that is due at once.
func newRepetition() *repetition {
	return &repetition{due: time.NewTimer(0), wait: spacing}
}

// plan has the reader look again where changes wait, after twice as long each time that they still do.
func (r *repetition) plan(waits bool) {
	if !waits {
		r.wait = spacing
		return
	}
	r.due.Reset(r.wait)
	r.wait = min(2*r.wait, lookEvery)
}

// isIdle ends the reader, and reports that, if nobody has followed anything for a while.
func (f *Feed) isIdle(r *reader) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.followers > 0 || time.Since(f.idleSince) < f.linger {
		return false
	}
	if f.reader == r {
		f.reader = nil
	}
	return true
}

// stop ends the subscriptions with the store.
func (f *Feed) stop(r *reader) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reader == r {
		f.reader = nil
	}
}

// lookAround is look, and looks at the logs as well if that is asked for. Of errors one after the other it logs the
// second: one alone is a connection that was lost, or the end of the store.
func (r *reader) lookAround(ctx context.Context, withLogs bool) (waits bool, err error) {
	waits, err = r.look(ctx)
	if err != nil {
		r.recordUnread(r.unread)
	}
	if err == nil && withLogs {
		err = r.lookAtLogs(ctx)
	}
	if err == nil {
		r.failures = 0
		return waits, nil
	}
	if r.failures++; r.failures == 2 {
		r.feed.log.WarnContext(ctx, "changes cannot be read; it is tried again every second", "error", err)
	}
	return false, err
}

// recordUnread records the first change that a look has left unread. While others come to be the first, the reader gets
// on.
func (r *reader) recordUnread(first feedcursor.Position) {
	r.feed.mu.Lock()
	defer r.feed.mu.Unlock()
	if r.behindSince.IsZero() || r.unread != first {
		r.unread, r.behindSince = first, time.Now()
	}
}

// recordRead records that a look has left nothing unread.
func (r *reader) recordRead() {
	r.feed.mu.Lock()
	defer r.feed.mu.Unlock()
	r.unread, r.behindSince = feedcursor.Position{}, time.Time{}
}

// look reads all changes that there are, and reports whether some have to wait for earlier ones.
func (r *reader) look(ctx context.Context) (waits bool, err error) {
	if err := r.begin(ctx); err != nil {
		return false, err
	}
	for {
		page, err := r.feed.store.NewChanges(ctx, r.position, pageSize)
		if err != nil {
			return false, err
		}

		for _, c := range page {
			isPending := c.Version == 1 || c.Kind == deploymentchange.KindQUEUED
			r.feed.waiters.wake(c.OrganizationID, c.DeploymentID, isPending)
		}

		settled := countSettled(page)
		if settled > 0 {
			if err := r.send(ctx, page, page[settled-1].Position); err != nil {
				return false, err
			}
		}

		switch {
		case settled < len(page):
			r.recordUnread(page[settled].Position)
			return true, nil
		case len(page) < pageSize:
			r.recordRead()
			return false, nil
		}
	}
}

// countSettled returns how many changes of a page there are up to the last one that is settled.
func countSettled(page []store.Change) int {
	settled := len(page)
	for settled > 0 && !page[settled-1].Settled {
		settled--
	}
	return settled
}

// lookAtLogs wakes those who watch logs that have more lines: nobody may have notified this server.
func (r *reader) lookAtLogs(ctx context.Context) error {
	watched := r.feed.waiters.logs()
	if len(watched) == 0 {
		r.logLines = nil
		return nil
	}
	lines, err := r.feed.store.LogLines(ctx, watched)
	if err != nil {
		return err
	}
	for deploymentID, n := range lines {
		if r.logLines[deploymentID] != n {
			r.feed.waiters.wakeLogs(deploymentID)
		}
	}
	r.logLines = lines
	return nil
}

// begin sets the position behind what has happened until now, once.
func (r *reader) begin(ctx context.Context) error {
	select {
	case <-r.ready:
		return nil
	default:
	}
	newest, err := r.feed.store.NewestChange(ctx)
	if err != nil {
		return err
	}
	if newest != nil {
		r.position = newest.Position
		r.feed.mu.Lock()
		r.taken = newest.Position
		r.feed.mu.Unlock()
	}
	close(r.ready)
	r.feed.waiters.wakeEverybody() // what has changed before is not seen here
	return nil
}

// send sends a page of changes to the subscriptions, and moves on.
func (r *reader) send(ctx context.Context, page []store.Change, to feedcursor.Position) error {
	events := merge(page, r.seen.of)
	followed := r.take(events, to)
	items, err := r.feed.items(ctx, followed)
	if err != nil {
		return err
	}
	r.position = to
	r.seen.add(events)
	r.feed.mu.Lock()
	defer r.feed.mu.Unlock()
	for i, e := range followed {
		r.feed.subscriptions[e.OrganizationID].send(items[i])
	}
	return nil
}

// take returns the events that somebody follows.
func (r *reader) take(events []event, to feedcursor.Position) (followed []event) {
	r.feed.mu.Lock()
	defer r.feed.mu.Unlock()
	r.taken = to
	for _, e := range events {
		if r.feed.subscriptions[e.OrganizationID].follows(e.DeploymentID) {
			followed = append(followed, e)
		}
	}
	return followed
}

// items returns the items of events, nil if there is no deployment any more. Each deployment is read once.
func (f *Feed) items(ctx context.Context, events []event) ([]*Item, error) {
	of, err := f.deployments(ctx, events, nil)
	if err != nil {
		return nil, err
	}
	items := make([]*Item, len(events))
	for i, e := range events {
		if d := of[e.DeploymentID]; d != nil {
			items[i] = &Item{
				Cursor: e.cursor.String(), Kind: kindOf(e.Change, d),
				Version: e.Version, Deployment: d, position: e.Position,
			}
		}
	}
	return items, nil
}

// deployments returns the deployments of events by their ids, with some columns, nil for all.
func (f *Feed) deployments(
	ctx context.Context, events []event, columns *record.Columns,
) (map[string]*record.Deployment, error) {
	ids := map[string][]string{}
	for _, e := range events {
		if !slices.Contains(ids[e.OrganizationID], e.DeploymentID) {
			ids[e.OrganizationID] = append(ids[e.OrganizationID], e.DeploymentID)
		}
	}
	of := map[string]*record.Deployment{}
	for organizationID, list := range ids {
		ctx := record.WithColumns(actor.WithServer(ctx, organizationID), columns)
		found, err := record.Deployments.In(f.store).ByIDs(ctx, list)
		if err != nil {
			return nil, err
		}
		for _, d := range found {
			of[d.ID] = d
		}
	}
	return of, nil
}

// kindOf returns what a change did to a deployment, as it is by now. A program that did not know wrote none.
func kindOf(c store.Change, d *record.Deployment) Kind {
	switch c.Kind {
	case deploymentchange.KindQUEUED:
		return Updated
	case deploymentchange.KindCREATED, deploymentchange.KindUPDATED, deploymentchange.KindCOMPLETED:
		return Kind(c.Kind)
	}
	return Kind(record.KindOfChange(c.Version, d.CompletedAt != nil && c.Version == d.Version))
}
