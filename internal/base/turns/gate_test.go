package turns_test

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/fault"
	"slipway/internal/base/turns"
)

// limited is a limit of so many places, where one more waits as long as it is told.
func limited(most int, wait time.Duration) turns.Limit {
	return turns.Limit{Name: "thingsPerCaller", Flag: "--max-things-per-caller", Of: "things", Max: most, Wait: wait, Queue: 2}
}

func enter(t *testing.T, g *turns.Gate, key string) (leave func()) {
	t.Helper()
	leave, err := g.Enter(t.Context(), key)
	if err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return leave
}

func TestACallerHasItsPlacesAndNoMore(t *testing.T) {
	t.Parallel()
	g := turns.NewGate(limited(2, 0))
	first := enter(t, g, "a")
	enter(t, g, "a")
	_, err := g.Enter(t.Context(), "a")
	refusal, ok := errors.AsType[*fault.Error](err)
	if !ok || refusal.Code != fault.RequestRateLimited || refusal.Message != "A caller may have at most 2 things at once (--max-things-per-caller); this would be one more." {
		t.Fatalf("%v", err)
	}
	if diff := cmp.Diff(map[string]any{"limit": "thingsPerCaller", "value": 2, "retryAfterSeconds": 1}, refusal.Metadata); diff != "" {
		t.Error(diff)
	}
	enter(t, g, "b") // whatever others have
	first()
	first() // a place is given back once
	enter(t, g, "a")
	if _, err := g.Enter(t.Context(), "a"); !fault.Is(err, fault.RequestRateLimited) {
		t.Errorf("a place that was given back twice counts twice: %v", err)
	}
}

func TestOnlyThoseWhoHaveSomethingAreRemembered(t *testing.T) {
	t.Parallel()
	g := turns.NewGate(limited(1, 0))
	var leave []func()
	for i := range 100 {
		leave = append(leave, enter(t, g, strconv.Itoa(i)))
		_, _ = g.Enter(t.Context(), strconv.Itoa(i)) // a refusal is not remembered either
	}
	if got := g.Callers(); got != 100 {
		t.Errorf("%d callers", got)
	}
	for _, f := range leave {
		f()
	}
	if got := g.Callers(); got != 0 {
		t.Errorf("%d callers are remembered who have nothing", got)
	}
}

func TestWithoutALimitThereIsNone(t *testing.T) {
	t.Parallel()
	for name, g := range map[string]*turns.Gate{"nil": nil, "zero": turns.NewGate(limited(0, 0)), "negative": turns.NewGate(limited(-1, 0))} {
		for range 1000 {
			if _, err := g.Enter(t.Context(), "a"); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}

func TestPlacesComeInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := turns.NewGate(limited(1, time.Second))
		leave := enter(t, g, "a")
		turns := make(chan int, 2)
		for i := range 2 {
			go func() {
				defer enter(t, g, "a")()
				turns <- i
			}()
			synctest.Wait()
		}
		if _, err := g.Enter(t.Context(), "a"); !fault.Is(err, fault.RequestRateLimited) {
			t.Errorf("a third in the queue: %v", err)
		}
		defer enter(t, g, "b")() // others do not wait
		leave()
		if first, second := <-turns, <-turns; first != 0 || second != 1 {
			t.Errorf("%d before %d", first, second)
		}
	})
}

func TestOneMoreWaitsAsLongAsItMay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := turns.NewGate(limited(1, time.Second))
		leave := enter(t, g, "a")
		begun := time.Now()
		if _, err := g.Enter(t.Context(), "a"); !fault.Is(err, fault.RequestRateLimited) || time.Since(begun) != time.Second {
			t.Errorf("after %s: %v", time.Since(begun), err)
		}
		time.AfterFunc(999*time.Millisecond, leave)
		enter(t, g, "a")()
		if g.Callers() != 0 {
			t.Error("the queue is not empty")
		}
	})
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := turns.NewGate(limited(1, time.Hour))
		leave := enter(t, g, "a")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := g.Enter(ctx, "a"); !fault.Is(err, fault.RequestTimeout) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		leave() // to nobody: who has given up must not keep the place
		if g.Callers() != 0 {
			t.Error("the place is still taken")
		}
	})
}

// TestTheCountIsExact has many callers come and go, wait, and give up.
func TestTheCountIsExact(t *testing.T) {
	t.Parallel()
	const most = 3
	l := limited(most, time.Millisecond)
	l.Queue = 1000
	g := turns.NewGate(l)
	var inside [2]atomic.Int64
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			which := i % 2
			for range 200 {
				leave, err := g.Enter(t.Context(), strconv.Itoa(which))
				if err != nil {
					continue
				}
				if now := inside[which].Add(1); now > most {
					t.Errorf("%d have a place", now)
				}
				runtime.Gosched()
				inside[which].Add(-1)
				leave()
			}
		})
	}
	all.Wait()
	if g.Callers() != 0 {
		t.Error("places are still taken")
	}
}
