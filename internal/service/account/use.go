package account

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"slipway/ent"
	"slipway/ent/token"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/store"
)

const (
	// useInterval is how often the use of a token is stored.
	useInterval = time.Minute
	// useDelay is how long the first of some uses waits for others, to be stored with them.
	useDelay = time.Second
	// useTimeout bounds the time that it takes to store them, also when the server stops.
	useTimeout = 2 * time.Second
	// maxUses is of how many tokens the uses may wait. Those of others are not recorded: their next requests try again.
	maxUses = 10_000
)

// uses are those of tokens that wait to be stored. The zero value has none.
type uses struct {
	mu      sync.Mutex
	waiting map[string]time.Time // the last, by the id of the token
	added   chan struct{}        // has an element if there may be any; nil while nobody waits for them

	// failedAt is when uses could not be stored last, in Unix nanoseconds; 0 for never.
	failedAt atomic.Int64
}

// RunUses stores the uses of tokens, those of about a second at once, until ctx ends, and then the last ones. It does
// nothing while no token is used.
func (s *Service) RunUses(ctx context.Context) {
	added := s.uses.listen()
	for {
		select {
		case <-ctx.Done():
		case <-added:
			select {
			case <-ctx.Done():
			case <-time.After(useDelay):
			}
		}
		ended := ctx.Err() != nil
		s.StoreUses(context.WithoutCancel(ctx))
		if ended {
			return
		}
	}
}

// StoreUses stores the uses that are recorded, all as the last of them. If that fails they are forgotten.
func (s *Service) StoreUses(ctx context.Context) {
	ids, last := s.uses.take()
	if len(ids) == 0 {
		return
	}

	ctx, cancel := context.WithTimeout(actor.With(ctx, &actor.Actor{Name: "system", Role: actor.System}), useTimeout)
	defer cancel()

	err := s.Store.Tx(ctx, store.Repeatable, func(ctx context.Context, tx *ent.Tx) error {
		for some := range slices.Chunk(ids, 1000) {
			if err := tx.Token.Update().Where(token.IDIn(some...)).SetLastUsedAt(last).Exec(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		return
	}

	s.uses.failedAt.Store(s.Now().UnixNano())
	if fault.IsFailure(err) {
		s.Log.WarnContext(ctx, "cannot store that tokens were used", "tokens", len(ids), "error", err)
	}
}

// recordUse records that the token was used, for people who look for tokens that nobody needs: at most once a minute,
// and not for a minute after uses could not be stored. The request does not wait for it.
func (s *Service) recordUse(t *ent.Token, now time.Time) {
	if t.LastUsedAt != nil && now.Sub(*t.LastUsedAt) < useInterval ||
		now.UnixNano()-s.uses.failedAt.Load() < int64(useInterval) {
		return
	}
	s.uses.add(t.ID, now)
}

// listen returns the channel that has an element when uses wait.
func (u *uses) listen() <-chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.added == nil {
		u.added = make(chan struct{}, 1)
	}
	if len(u.waiting) > 0 {
		u.notify()
	}
	return u.added
}

// notify puts an element into the channel unless it has one.
func (u *uses) notify() {
	select {
	case u.added <- struct{}{}:
	default: // also where nobody listens
	}
}

func (u *uses) add(tokenID string, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.waiting == nil {
		u.waiting = map[string]time.Time{}
	}
	if _, known := u.waiting[tokenID]; known || len(u.waiting) < maxUses {
		u.waiting[tokenID] = at
		u.notify()
	}
}

// take returns the ids of the tokens whose uses wait, in their order, and the time of the last use. None wait then.
func (u *uses) take() (ids []string, last time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, at := range u.waiting {
		if at.After(last) {
			last = at
		}
	}
	ids = slices.Sorted(maps.Keys(u.waiting))
	u.waiting = nil
	return ids, last
}
