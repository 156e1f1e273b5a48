// Package feed tells of the changes of deployments, on every server that shares the database, and loses none.
//
// Every write of a deployment leaves a row in the table of changes, in its transaction. Each server has one reader of
// that table (reader.go), which runs while somebody follows anything. It is woken by the server's own writes, by the
// notifications of others and every second, and reads on from its position, as far as no earlier change can come any
// more. A deployment that has changed is read once, however many follow it. A subscription is a filter and a bounded
// queue (subscription.go): who does not take what is in it in time loses the subscription.
//
// Each item has a cursor. Who comes back with it gets what was missed from the table and then what comes (resume.go).
// What a subscription reads for itself it reads in its turn. It has no turn while it sends: a client that takes nothing
// of what is sent waits alone.
//
// The versions of one deployment only rise. Versions that were passed are left out, but never those that created a
// deployment or ended it (merge.go).
//
// Those who only wait for something to change, and look for themselves then, are woken without any of that
// (waiters.go).
package feed

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/turns"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
	"slipway/internal/pure/feedcursor"
)

// Retention is how long changes are kept, and so how long who follows may be away and miss nothing.
const Retention = 7 * 24 * time.Hour

// margin is how much earlier a cursor expires than its change: a change that comes after it may be a little older.
const margin = time.Minute

// Kind is what a change did to a deployment, for who is sent it.
type Kind string

// The kinds of changes. Left is one after which a deployment meets all of a filter but what can change of it.
const (
	Created   Kind = "CREATED"
	Updated   Kind = "UPDATED"
	Completed Kind = "COMPLETED"
	Left      Kind = "LEFT"
)

// Item is a change of a deployment.
type Item struct {
	// Cursor is the place behind the change, as Following.After takes it.
	Cursor string
	Kind   Kind
	// Version is that of the deployment after the change.
	Version int32
	// Deployment is the deployment when it was read for the item, so its version may be higher. All who are sent the
	// item share it, and nobody changes it.
	Deployment *record.Deployment
	// Err, if it is not nil, is why no more items come. The other fields have no values then.
	Err error

	position feedcursor.Position
}

// Feed is the feed of one server.
type Feed struct {
	store    *store.Store
	log      *slog.Logger
	notifier notifier
	waiters  waiters
	// maxQueue is how many items may wait for a subscription to take them.
	maxQueue int
	// maxLeft is of how many deployments a subscription knows that it has sent Left.
	maxLeft int
	// linger is how long the reader goes on when nobody follows anything any more.
	linger time.Duration
	// reads bounds how much subscriptions read at once for themselves.
	reads *turns.Turns

	mu sync.Mutex
	// reader runs while somebody follows anything, and linger longer; nil otherwise.
	reader *reader
	// followers is how many subscriptions and waiters there are, idleSince when the last of them left.
	followers int
	idleSince time.Time
	// subscriptions are those of each organization.
	subscriptions map[string]*audience
}

// maxReads is how many reads subscriptions do at once for themselves: when they begin, what they have missed, the
// lines of a log.
const maxReads = 4

// New returns the feed of a database.
func New(s *store.Store, log *slog.Logger) *Feed {
	return &Feed{
		store: s, log: log, maxQueue: maxQueue, maxLeft: maxLeft, linger: linger,
		notifier: notifier{notify: s.Notify, logger: log},
		reads:    turns.New(turns.Limit{Max: maxReads}), subscriptions: map[string]*audience{},
	}
}

// Read calls read, which a subscription of the caller's needs, in a turn: organizations take turns, and within one its
// callers. read must do nothing but read the database: if it waits for somebody else in a turn, all others wait too.
// The error is that of read, or RequestTimeout if the context ended first.
func (f *Feed) Read(ctx context.Context, read func(context.Context) error) error {
	if err := f.reads.Take(ctx, turns.CallerOf(actor.From(ctx))); err != nil {
		return err
	}
	defer f.reads.Leave()
	return read(ctx)
}

// Changed has the feed look for changes at once, on every server. It is to be called with a deployment whose change was
// committed, and waits for nothing.
func (f *Feed) Changed(d *ent.Deployment) {
	f.waiters.wake(d.OrganizationID, d.ID, d.Status == deployment.StatusPENDING)
	f.notifier.deployments()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reader != nil {
		f.reader.wake()
	}
}

// Head returns the cursor behind all changes that the caller's organization has had until now: what comes after it is
// missing from no record that is read later.
func (f *Feed) Head(ctx context.Context) (feedcursor.Cursor, error) {
	last, err := f.store.LastChange(ctx)
	if err != nil {
		return feedcursor.Cursor{}, err
	}
	if last == nil {
		return feedcursor.Cursor{At: store.Now()}, nil
	}
	return feedcursor.Cursor{Position: last.Position, At: last.At}, nil
}

// expired is the error of a cursor whose place in the feed is not there any more.
func expired(why string) error {
	return fault.New(fault.FeedCursorExpired,
		"What has changed since the cursor is not known any more: %s "+
			"Read the list again, with its feedCursor, and go on from there.", why)
}

// Followers returns how many subscriptions and waiters follow something on this server.
func (f *Feed) Followers() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.followers
}

// Lag returns for how long this server has not read all changes that there are, 0 if it has, or nobody follows any.
func (f *Feed) Lag() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reader == nil || f.reader.behindSince.IsZero() {
		return 0
	}
	return time.Since(f.reader.behindSince)
}

// enter adds a follower and returns the reader, which it starts if it does not run.
func (f *Feed) enter() *reader {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.followers++
	if f.reader == nil {
		f.reader = &reader{feed: f, seen: newVersions(), woken: make(chan struct{}, 1), ready: make(chan struct{})}
		go f.reader.run()
	}
	return f.reader
}

// leave removes a follower.
func (f *Feed) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.followers--
	f.idleSince = time.Now()
}
