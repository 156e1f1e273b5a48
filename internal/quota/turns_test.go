package quota_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/fault"
	"slipway/internal/quota"
)

func turns(most int, wait time.Duration) *quota.Turns {
	return quota.NewTurns(quota.Limit{Name: "things", Flag: "--max-things", Of: "things", Max: most, Wait: wait})
}

func TestCallersThatWaitTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		at := turns(1, time.Minute)
		if err := at.Take(t.Context(), "first"); err != nil {
			t.Fatal(err)
		}
		var order []string // written by who has the turn
		var all sync.WaitGroup
		for _, caller := range []string{"a", "a", "a", "a", "b", "c", "b"} {
			all.Go(func() {
				if err := at.Take(t.Context(), caller); err != nil {
					t.Error(err)
					return
				}
				order = append(order, caller)
				at.Leave()
			})
			synctest.Wait()
		}
		at.Leave()
		all.Wait()
		if diff := cmp.Diff([]string{"a", "b", "c", "a", "b", "a", "a"}, order); diff != "" {
			t.Error(diff)
		}
	})
}

func TestNoMoreAreAtWorkThanThereIsRoomFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		at := turns(3, time.Hour)
		var mu sync.Mutex
		var now, most, done int
		var all sync.WaitGroup
		for i := range 200 {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*time.Millisecond)
				defer cancel()
				if err := at.Take(ctx, strconv.Itoa(i%7)); err != nil {
					return // it gave up
				}
				mu.Lock()
				now++
				most = max(most, now)
				mu.Unlock()
				<-time.After(2 * time.Millisecond)
				mu.Lock()
				now--
				done++
				mu.Unlock()
				at.Leave()
			})
		}
		all.Wait()
		if most != 3 || done < 100 {
			t.Errorf("%d at once, %d done", most, done)
		}
		for range 3 { // nothing was lost to those who gave up
			if err := at.Take(t.Context(), "after"); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestWhoGetsNoTurnIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		at := turns(2, time.Second)
		for range 2 {
			if err := at.Take(t.Context(), "a"); err != nil {
				t.Fatal(err)
			}
		}
		err := at.Take(t.Context(), "b")
		refusal, ok := errors.AsType[*fault.Error](err)
		if !ok || refusal.Code != fault.ServerUnavailable ||
			refusal.Message != "The server does 2 things at once (--max-things), and none came to its end within 1s; nothing was run." {
			t.Fatalf("%v", err)
		}
		if diff := cmp.Diff(map[string]any{"limit": "things", "value": 2, "retryAfterSeconds": 1}, refusal.Metadata); diff != "" {
			t.Error(diff)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := at.Take(ctx, "b"); !fault.Is(err, fault.RequestTimeout) {
			t.Errorf("%v", err)
		}
		at.Leave()
		if err := at.Take(t.Context(), "b"); err != nil {
			t.Error(err)
		}
	})
}

func TestWithoutALimitNobodyWaits(t *testing.T) {
	t.Parallel()
	for _, at := range []*quota.Turns{nil, turns(0, 0)} {
		for range 100 {
			if err := at.Take(t.Context(), "a"); err != nil {
				t.Fatal(err)
			}
		}
		at.Leave()
	}
}
