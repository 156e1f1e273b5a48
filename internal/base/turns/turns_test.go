package turns_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/turns"
)

func newTurns(most int, wait time.Duration) *turns.Turns {
	return turns.New(turns.Limit{Name: "things", Flag: "--max-things", Of: "things", Max: most, Wait: wait})
}

// caller is a caller by its organization and its key, with a slash between.
func caller(name string) turns.Caller {
	organization, key, _ := strings.Cut(name, "/")
	return turns.Caller{Organization: organization, Key: key}
}

// orderOf returns in which order callers get their turn who come one after the other while there is none.
func orderOf(t *testing.T, at *turns.Turns, callers ...string) (order []string) {
	t.Helper()
	if err := at.Take(t.Context(), caller("before/all")); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for _, each := range callers {
		all.Go(func() {
			if err := at.Take(t.Context(), caller(each)); err != nil {
				t.Error(err)
				return
			}
			order = append(order, each) // by who has the turn
			at.Leave()
		})
		synctest.Wait()
	}
	at.Leave()
	all.Wait()
	return order
}

func TestOrganizationsTakeTurnsAndWithinThemTheirCallers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ come, want []string }{
		"callers of one": {
			[]string{"x/a", "x/a", "x/a", "x/a", "x/b", "x/c", "x/b"},
			[]string{"x/a", "x/b", "x/c", "x/a", "x/b", "x/a", "x/a"},
		},
		"one with many callers": {
			[]string{"x/a", "x/b", "x/c", "x/d", "y/a", "x/a", "y/a"},
			[]string{"x/a", "y/a", "x/b", "y/a", "x/c", "x/d", "x/a"},
		},
		"the same key in several": {
			[]string{"x/a", "x/a", "y/a", "z/a"},
			[]string{"x/a", "y/a", "z/a", "x/a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				if diff := cmp.Diff(c.want, orderOf(t, newTurns(1, time.Minute), c.come...)); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// Ten tokens of a tenant with a hundred requests each are before another's one request once, whatever has begun.
func TestAnOrganizationWithManyTokensIsBeforeAnotherOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var come []string
		for i := range 1000 {
			come = append(come, "busy/"+strconv.Itoa(i%10))
		}
		order := orderOf(t, newTurns(1, 0), append(come, "other/one")...)
		for i, name := range order {
			if name == "other/one" && i > 1 {
				t.Errorf("it is the %dth", i+1)
			}
		}
		if len(order) != 1001 {
			t.Errorf("%d had a turn", len(order))
		}
	})
}

func TestCallersWithoutAnOrganizationWeighAsOneOfTheirKind(t *testing.T) {
	t.Parallel()
	weighs := map[string]bool{}
	for name, c := range map[string]turns.Caller{
		"a tenant's":                       turns.CallerOf(&actor.Actor{ID: "tok_1", Role: actor.Admin, OrganizationID: "org_1"}),
		"another of it":                    turns.CallerOf(&actor.Actor{ID: "tok_2", Role: actor.Viewer, OrganizationID: "org_1"}),
		"another tenant's":                 turns.CallerOf(&actor.Actor{ID: "tok_3", Role: actor.Admin, OrganizationID: "org_2"}),
		"a superadmin":                     turns.CallerOf(&actor.Actor{ID: "tok_4", Role: actor.Superadmin}),
		"a superadmin who acts in another": turns.CallerOf(&actor.Actor{ID: "tok_5", Role: actor.Superadmin, OrganizationID: "org_1"}),
		"an address":                       turns.Stranger("192.0.2.1/32"),
		"another address":                  turns.Stranger("192.0.2.2/32"),
	} {
		weighs[c.Organization] = true
		if c.Anonymous != strings.HasSuffix(name, "address") || c.Key == "" {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if want := map[string]bool{"org_1": true, "org_2": true, "superadmins": true, "strangers": true}; !cmp.Equal(want, weighs) {
		t.Errorf("they weigh as %v", weighs)
	}
}

func TestNoMoreAreAtWorkThanThereIsRoomFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		at := newTurns(3, time.Hour)
		var mu sync.Mutex
		var now, most, done int
		var all sync.WaitGroup
		for i := range 200 {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*time.Millisecond)
				defer cancel()
				if err := at.Take(ctx, caller(strconv.Itoa(i%3)+"/"+strconv.Itoa(i%7))); err != nil {
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
			if err := at.Take(t.Context(), caller("after/a")); err != nil {
				t.Error(err)
			}
		}
	})
}

// Who was in the middle of something goes on without a turn to spare, and until as many have left nobody is let in.
func TestWhatGoesOnWithoutATurnIsMadeUpFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		at := newTurns(2, time.Second)
		for range 2 {
			if err := at.Take(t.Context(), caller("x/a")); err != nil {
				t.Fatal(err)
			}
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		for range 3 {
			at.TakeBack(over, caller("x/b")) // five are at work now
		}
		entered := make(chan struct{}, 10)
		for range 10 {
			go func() {
				if at.Take(t.Context(), caller("y/c")) == nil {
					entered <- struct{}{}
				}
			}()
		}
		synctest.Wait()
		for left := 1; left <= 5; left++ {
			at.Leave()
			synctest.Wait()
			if want := max(left-3, 0); len(entered) != want {
				t.Errorf("once %d have left, %d were let in, want %d", left, len(entered), want)
			}
		}
	})
}

func TestWhoGetsNoTurnIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		at := newTurns(2, time.Second)
		for range 2 {
			if err := at.Take(t.Context(), caller("x/a")); err != nil {
				t.Fatal(err)
			}
		}
		err := at.Take(t.Context(), caller("x/b"))
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
		if err := at.Take(ctx, caller("x/b")); !fault.Is(err, fault.RequestTimeout) {
			t.Errorf("%v", err)
		}
		at.Leave()
		if err := at.Take(t.Context(), caller("x/b")); err != nil {
			t.Error(err)
		}
	})
}

func TestWithoutATimeOneWaitsAsLongAsItsContextLasts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		at := newTurns(1, 0)
		if err := at.Take(t.Context(), caller("x/a")); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		begun := time.Now()
		if err := at.Take(ctx, caller("y/b")); !fault.Is(err, fault.RequestTimeout) || time.Since(begun) != 24*time.Hour {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
	})
}

func TestWithoutALimitNobodyWaits(t *testing.T) {
	t.Parallel()
	for _, at := range []*turns.Turns{nil, newTurns(0, 0)} {
		for range 100 {
			if err := at.Take(t.Context(), caller("x/a")); err != nil {
				t.Fatal(err)
			}
		}
		at.Leave()
	}
}
