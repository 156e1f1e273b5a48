package feed

import (
	"context"
	"slices"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
	"slipway/internal/pure/feedcursor"
)

// maxQueue is how many items may wait for a subscription to take them, maxLeft of how many deployments it knows that it
// has sent Left, of the last: of others it is sent again.
const (
	maxQueue = 1000
	maxLeft  = 1000
)

// Following says what to subscribe to.
type Following struct {
	// DeploymentID, if it is not empty, is the one deployment to follow, until it has ended.
	DeploymentID string
	// Matches reports whether a deployment is among those to follow, by the Columns of it; nil for all.
	Matches func(*record.Deployment) bool
	Columns *record.Columns
	// Leaves, if it is not nil, reports whether a deployment that does not match could match later, or may have before:
	// a change after which it does not is sent as Left, until it matches again once. It goes by the same Columns.
	Leaves func(*record.Deployment) bool
	// After, if it is not nil, is the cursor behind which to begin, and otherwise what changes from now on is sent.
	After *feedcursor.Cursor
	// First, if it is not nil, returns what is sent before all else. It is called when nothing that changes from
	// then on will be missed, and later changes of its deployment have higher versions. It reads by Feed.Read.
	First func(context.Context) (*Item, error)
}

// audience are the subscriptions of an organization.
type audience struct {
	// all follow any deployment, one follow the deployment of an id.
	all map[*subscription]struct{}
	one map[string]map[*subscription]struct{}
}

// subscription is what somebody follows.
type subscription struct {
	Following
	feed           *Feed
	organizationID string
	// left are the deployments that Left was last sent of; nil before the first. It is used by the one who sends.
	left *simplelru.LRU[string, struct{}]
	// gone is closed when the one who subscribed has gone.
	gone  <-chan struct{}
	items chan *Item

	mu sync.Mutex
	// from is where what the feed's reader sends begins to be of interest, version what version of First's deployment.
	from    feedcursor.Position
	version int32
	queue   []*Item
	// sending reports whether a goroutine sends what is in the queue. None does while it is empty.
	sending bool
	// ended reports whether nothing more is put into the queue.
	ended bool
}

// Subscribe returns the items of the caller's organization that are followed, until ctx ends: then the channel is
// closed. It is also closed after an item with an Err, and after the item that COMPLETED a single deployment. Items
// must be received in time: if too many wait, the last one is an error. It fails with RequestCursorInvalid,
// FeedCursorExpired and what First returns.
func (f *Feed) Subscribe(ctx context.Context, what Following) (<-chan *Item, error) {
	s := &subscription{
		Following: what, feed: f, organizationID: store.Scope(actor.From(ctx)),
		gone: ctx.Done(), items: make(chan *Item), sending: true,
	}

	if err := s.begin(ctx); err != nil {
		return nil, err
	}

	first, seen, err := s.start(ctx)
	if err != nil {
		s.end()
		return nil, err
	}

	context.AfterFunc(ctx, s.end)
	switch {
	case what.After != nil:
		go s.resume(ctx, seen)
	case first != nil:
		go s.sendFirst(first)
	default:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.continueSending()
	}

	return s.items, nil
}

// begin has the feed's reader send to the subscription.
func (s *subscription) begin(ctx context.Context) error {
	r := s.feed.enter()
	select {
	case <-r.ready:
	case <-ctx.Done():
		s.feed.leave()
		return context.Cause(ctx)
	}
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	s.from = r.taken
	if s.After != nil && s.After.Begins().Compare(s.from) > 0 {
		s.from = s.After.Begins() // another server was ahead of this one
	}
	s.feed.add(s)
	return nil
}

// start returns the first item, or what is known of the changes before the cursor.
func (s *subscription) start(ctx context.Context) (first *Item, seen *versions, err error) {
	if s.After != nil {
		seen, err = s.feed.before(ctx, *s.After)
		return nil, seen, err
	}
	if s.First != nil {
		first, err = s.First(ctx)
	}
	return first, nil, err
}

// end ends the subscription for the one who subscribed, and closes the channel unless it is being sent to.
func (s *subscription) end() {
	s.feed.remove(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended, s.queue = true, nil
	if !s.sending {
		s.sending = true // once
		close(s.items)
	}
}

// add adds a subscription. It is called under the feed's mutex.
func (f *Feed) add(s *subscription) {
	a := f.subscriptions[s.organizationID]
	if a == nil {
		a = &audience{map[*subscription]struct{}{}, map[string]map[*subscription]struct{}{}}
		f.subscriptions[s.organizationID] = a
	}
	if s.DeploymentID == "" {
		a.all[s] = struct{}{}
		return
	}
	if a.one[s.DeploymentID] == nil {
		a.one[s.DeploymentID] = map[*subscription]struct{}{}
	}
	a.one[s.DeploymentID][s] = struct{}{}
}

// remove removes a subscription. Another time it does nothing.
func (f *Feed) remove(s *subscription) {
	f.mu.Lock()

	a := f.subscriptions[s.organizationID]
	isThere := false
	if a != nil {
		list := a.all
		if s.DeploymentID != "" {
			list = a.one[s.DeploymentID]
		}
		_, isThere = list[s]
		delete(list, s)
		if len(a.one[s.DeploymentID]) == 0 {
			delete(a.one, s.DeploymentID)
		}
		if len(a.all)+len(a.one) == 0 {
			delete(f.subscriptions, s.organizationID)
		}
	}

	f.mu.Unlock()
	if isThere {
		f.leave()
	}
}

// follows reports whether somebody follows a deployment. It is called under the feed's mutex.
func (a *audience) follows(deploymentID string) bool {
	return a != nil && len(a.all)+len(a.one[deploymentID]) > 0
}

// send sends an item, which may be nil, to those who follow its deployment. It is called under the feed's mutex.
func (a *audience) send(item *Item) {
	if a == nil || item == nil {
		return
	}
	for s := range a.all {
		s.put(item)
	}
	for s := range a.one[item.Deployment.ID] {
		s.put(item)
	}
}

// put puts an item of the feed's reader into the queue.
func (s *subscription) put(item *Item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || item.position.Compare(s.from) <= 0 || s.version >= item.Version || !s.wants(item.Deployment) {
		return
	}
	s.dropPassed(item)
	if len(s.queue) >= s.feed.maxQueue {
		item = &Item{Err: tooSlow(s.feed.maxQueue)}
		s.queue = nil
	}
	s.queue, s.ended = append(s.queue, item), s.isLast(item)
	if !s.sending {
		s.sending = true
		go s.sendQueue()
	}
}

// wants reports whether a deployment is one that is followed, or may have left those.
func (s *subscription) wants(d *record.Deployment) bool {
	return s.Matches == nil || s.Matches(d) || s.Leaves != nil && s.Leaves(d)
}

// asTold returns an item as it is to be sent, with the kind Left if its deployment does not match; nil if that was sent
// before. It goes by the order in which items are sent, which a client sees.
func (s *subscription) asTold(item *Item) *Item {
	if s.Leaves == nil || item.Err != nil {
		return item
	}
	if s.left == nil {
		s.left = newLeft(s.feed.maxLeft)
	}
	id := item.Deployment.ID
	if s.Matches(item.Deployment) {
		s.left.Remove(id)
		return item
	}
	if _, known := s.left.Get(id); known {
		return nil
	}
	s.left.Add(id, struct{}{})
	left := *item
	left.Kind = Left
	return &left
}

func newLeft(most int) *simplelru.LRU[string, struct{}] {
	left, err := simplelru.NewLRU[string, struct{}](most, nil)
	if err != nil {
		panic(err) // most is above 0
	}
	return left
}

// isLast reports whether nothing comes after an item.
func (s *subscription) isLast(item *Item) bool {
	return item.Err != nil || s.DeploymentID != "" && item.Kind == Completed
}

// dropPassed takes an update out of the queue that an item passes.
func (s *subscription) dropPassed(item *Item) {
	s.queue = slices.DeleteFunc(s.queue, func(waiting *Item) bool {
		return waiting.Kind == Updated && waiting.Deployment.ID == item.Deployment.ID
	})
}

// sendFirst sends an item before what is in the queue.
func (s *subscription) sendFirst(first *Item) {
	s.mu.Lock()
	s.version = first.Version
	s.queue = slices.DeleteFunc(s.queue, func(waiting *Item) bool {
		return waiting.Err == nil && waiting.Version <= first.Version
	})
	s.queue = append([]*Item{first}, s.queue...)
	s.ended = s.ended || s.isLast(first)
	s.mu.Unlock()
	s.sendQueue()
}

// continueSending sends what is in the queue on a goroutine, if there is something. It is called under the mutex.
func (s *subscription) continueSending() {
	if s.sending = s.ended || len(s.queue) > 0; s.sending {
		go s.sendQueue()
	}
}

// sendQueue sends what is in the queue until it is empty, and closes the channel after the last item.
func (s *subscription) sendQueue() {
	for {
		item, isLast := s.take()
		if item == nil {
			return
		}
		if !s.send(item) || isLast {
			s.close()
			return
		}
	}
}

// take takes the next item out of the queue, and reports whether it is the last one. If there is none, nobody sends
// any more.
func (s *subscription) take() (item *Item, isLast bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case len(s.queue) > 0:
		item = s.queue[0]
		s.queue[0] = nil
		s.queue = s.queue[1:]
		return item, s.ended && len(s.queue) == 0
	case s.ended:
		close(s.items)
	default:
		s.queue, s.sending = nil, false
	}
	return nil, false
}

// send sends an item, and reports whether it was received, or is not to be sent.
func (s *subscription) send(item *Item) bool {
	if item = s.asTold(item); item == nil {
		return true
	}
	select {
	case s.items <- item:
		return true
	case <-s.gone:
		return false
	}
}

// close ends the subscription for the one who sends.
func (s *subscription) close() {
	s.feed.remove(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended, s.queue = true, nil
	close(s.items)
}

func tooSlow(most int) error {
	return fault.New(fault.FeedTooSlow,
		"More than %d changes wait to be taken. Go on with the cursor of the last item that came.", most)
}
