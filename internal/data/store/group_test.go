package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	entsql "entgo.io/ent/dialect/sql"

	"slipway/ent"
	"slipway/ent/organization"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/data/store"
	"slipway/internal/test/worldtest"
)

// writers write organizations to a SQLite file, each of them in a transaction.
type writers struct {
	t     *testing.T
	ctx   context.Context
	store *store.Store
	all   sync.WaitGroup
}

// writer is one of writers: what its transaction does when it has written, and how it has ended.
type writer struct {
	slug string
	then func(ctx context.Context, tx *ent.Tx) error
	// runs counts how often the function was called; started is closed by the first call.
	runs    int
	started chan struct{}
	ended   chan struct{}
	err     error
}

// newWriters opens a SQLite file, within the bubble of a synctest.
func newWriters(t *testing.T, url string, options ...func(*store.Config)) *writers {
	t.Helper()
	config := store.Config{URL: url}
	for _, change := range options {
		change(&config)
	}
	s, err := store.Open(t.Context(), config)
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return &writers{t: t, ctx: actor.With(t.Context(), &actor.Actor{Name: "test", Role: actor.System}), store: s}
}

// inBubble runs a test against writers within the bubble of a synctest.
func inBubble(t *testing.T, test func(t *testing.T, w *writers), options ...func(*store.Config)) {
	t.Helper()
	url := worldtest.SQLite(t)
	synctest.Test(t, func(t *testing.T) { test(t, newWriters(t, url, options...)) })
}

// begin begins a transaction that writes an organization, and waits until it is in its function, or in the queue.
func (w *writers) begin(ctx context.Context, slug string, then func(ctx context.Context, tx *ent.Tx) error) *writer {
	one := &writer{slug: slug, then: then, started: make(chan struct{}), ended: make(chan struct{})}
	w.all.Go(func() {
		defer close(one.ended)
		one.err = w.store.Tx(ctx, never, func(ctx context.Context, tx *ent.Tx) error {
			if one.runs++; one.runs == 1 {
				close(one.started)
			}
			if err := writeOrganization(ctx, tx, slug); err != nil || one.then == nil {
				return err
			}
			return one.then(ctx, tx)
		})
	})
	synctest.Wait()
	return one
}

// has reports whether a channel was closed.
func has(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// until returns what a transaction does that waits for a channel to be closed.
func until(c chan struct{}) func(context.Context, *ent.Tx) error {
	return func(context.Context, *ent.Tx) error { <-c; return nil }
}

// writeOrganization inserts an organization at once: what begins with INSERT would wait.
func writeOrganization(ctx context.Context, tx *ent.Tx, slug string) error {
	return second(tx.ExecContext(ctx, `WITH x AS (SELECT 1) INSERT INTO organizations (id, name, slug, created_at, updated_at) VALUES (?, ?, ?, ?, ?)`,
		id.New(id.Organization), slug, slug, store.Now(), store.Now()))
}

// expect compares the organizations that readers see.
func (w *writers) expect(when string, want ...string) {
	w.t.Helper()
	if got := writtenOrganizations(w.ctx, w.store.Client); !slices.Equal(got, want) {
		w.t.Errorf("%s: readers see %v, want %v", when, got, want)
	}
}

func writtenOrganizations(ctx context.Context, c *ent.Client) []string {
	return c.Organization.Query().Order(ent.Asc(organization.FieldSlug)).Select(organization.FieldSlug).StringsX(ctx)
}

func TestWritersThatWaitAreCommittedTogether(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w *writers) {
		refused := fault.New(fault.DeploymentInProgress, "busy")
		leave := map[string]chan struct{}{"a": make(chan struct{}), "c": make(chan struct{})}
		var seen []string
		a := w.begin(w.ctx, "a", until(leave["a"]))
		b := w.begin(w.ctx, "b", func(context.Context, *ent.Tx) error { return refused })
		c := w.begin(w.ctx, "c", func(ctx context.Context, tx *ent.Tx) error {
			seen = writtenOrganizations(ctx, tx.Client())
			<-leave["c"]
			return nil
		})
		if has(b.started) || has(c.started) {
			t.Error("two transactions run at once")
		}
		close(leave["a"])
		synctest.Wait()
		if has(a.ended) || has(b.ended) || !has(c.started) {
			t.Error("a is to wait for c, and so is b, which may have been refused for what a has written")
		}
		w.expect("before the COMMIT")
		close(leave["c"])
		w.all.Wait()
		w.expect("after it", "a", "c")
		if !slices.Equal(seen, []string{"a", "c"}) {
			t.Errorf("c has seen %v, want what the members before it have written and not taken back", seen)
		}
		if a.err != nil || c.err != nil || !errors.Is(b.err, refused) {
			t.Errorf("ended with %v, %v, %v", a.err, b.err, c.err)
		}
	})
}

func TestWriterAloneWaitsForNobody(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w *writers) {
		begun := time.Now()
		for _, slug := range []string{"a", "b"} {
			if one := w.begin(w.ctx, slug, nil); !has(one.ended) || one.err != nil {
				t.Errorf("%s has not ended, or with %v", slug, one.err)
			}
		}
		if took := time.Since(begun); took != 0 {
			t.Errorf("it took %v", took)
		}
		w.expect("at once", "a", "b")
	})
}

func TestGroupTakesNoMoreThanItsMembers(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w *writers) {
		first, third := make(chan struct{}), make(chan struct{})
		a, b := w.begin(w.ctx, "a", until(first)), w.begin(w.ctx, "b", nil)
		c := w.begin(w.ctx, "c", until(third))
		close(first)
		synctest.Wait()
		if !has(a.ended) || !has(b.ended) || !has(c.started) || has(c.ended) {
			t.Error("two are to be committed when the third begins")
		}
		w.expect("while c runs", "a", "b")
		close(third)
		w.all.Wait()
	}, store.MaxGroupMembers(2))
}

func TestSlowGroupTakesNoMoreMembers(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w *writers) {
		last := make(chan struct{})
		a := w.begin(w.ctx, "a", func(context.Context, *ent.Tx) error { <-time.After(time.Second); return nil })
		w.begin(w.ctx, "b", until(last))
		<-time.After(2 * time.Second)
		synctest.Wait()
		if !has(a.ended) {
			t.Error("a waits for b, though its group is a second old")
		}
		w.expect("while b runs", "a")
		close(last)
		w.all.Wait()
	})
}

func TestWritersHaveTheirTurnsInOrder(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w *writers) {
		var order, want []string
		leave := make(chan struct{})
		w.begin(w.ctx, "first", until(leave))
		for i := range 20 {
			slug := fmt.Sprintf("w%02d", i)
			want = append(want, slug)
			w.begin(w.ctx, slug, func(context.Context, *ent.Tx) error { order = append(order, slug); return nil })
		}
		close(leave)
		w.all.Wait()
		if !slices.Equal(order, want) {
			t.Errorf("%v", order)
		}
	}, store.MaxGroupMembers(3))
}

func TestWriterThatLeavesTheQueueIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w *writers) {
		leave := make(chan struct{})
		ctx, cancel := context.WithCancel(w.ctx)
		a := w.begin(w.ctx, "a", until(leave))
		b := w.begin(ctx, "b", nil)
		cancel()
		synctest.Wait()
		if !has(b.ended) || has(b.started) || !errors.Is(b.err, context.Canceled) {
			t.Errorf("b has not left the queue, or with %v", b.err)
		}
		c := w.begin(w.ctx, "c", nil)
		close(leave)
		w.all.Wait()
		if a.err != nil || c.err != nil {
			t.Errorf("ended with %v, %v", a.err, c.err)
		}
		w.expect("in the end", "a", "c")
	})
}

// lateContext is a context whose end is seen only by those who ask for it.
type lateContext struct {
	context.Context
	ended atomic.Bool
}

func (c *lateContext) Err() error {
	if c.ended.Load() {
		return context.Canceled
	}
	return nil
}

func TestTurnThatComesTooLateIsPassedOn(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w *writers) {
		leave := make(chan struct{})
		late := &lateContext{Context: w.ctx}
		a := w.begin(w.ctx, "a", until(leave))
		b := w.begin(late, "b", nil)
		c := w.begin(w.ctx, "c", nil)
		late.ended.Store(true)
		close(leave)
		w.all.Wait()
		if a.err != nil || has(b.started) || !errors.Is(b.err, context.Canceled) || c.err != nil {
			t.Errorf("ended with %v, %v, %v", a.err, b.err, c.err)
		}
		w.expect("in the end", "a", "c")
	})
}

func TestMemberThatIsCanceledTakesNothingButItsOwnBack(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w *writers) {
		leave := make(chan struct{})
		ctx, cancel := context.WithCancel(w.ctx)
		a := w.begin(w.ctx, "a", until(leave))
		b := w.begin(ctx, "b", func(context.Context, *ent.Tx) error { cancel(); return nil })
		c := w.begin(w.ctx, "c", nil)
		close(leave)
		w.all.Wait()
		if a.err != nil || !errors.Is(b.err, context.Canceled) || c.err != nil || a.runs != 1 {
			t.Errorf("ended with %v after %d runs, %v, %v", a.err, a.runs, b.err, c.err)
		}
		w.expect("in the end", "a", "c")
	})
}

func TestMemberThatPanicsTakesNothingButItsOwnBack(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w *writers) {
		leave := make(chan struct{})
		a := w.begin(w.ctx, "a", until(leave))
		var recovered any
		w.all.Go(func() {
			defer func() { recovered = recover() }()
			_ = w.store.Tx(w.ctx, never, func(ctx context.Context, tx *ent.Tx) error {
				must(t, writeOrganization(ctx, tx, "b"))
				panic("boom")
			})
		})
		synctest.Wait()
		c := w.begin(w.ctx, "c", nil)
		close(leave)
		w.all.Wait()
		if a.err != nil || c.err != nil || recovered != "boom" {
			t.Errorf("ended with %v, %v, %v", a.err, recovered, c.err)
		}
		w.expect("in the end", "a", "c")
	})
}

// A row that refers to nothing is only seen by COMMIT where foreign keys are deferred, as they are nowhere but here.
func TestMembersFailTogetherWhereTheirCommitFails(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w *writers) {
		leave := make(chan struct{})
		a := w.begin(w.ctx, "a", func(ctx context.Context, tx *ent.Tx) error {
			<-leave
			if _, err := tx.ExecContext(ctx, "PRAGMA defer_foreign_keys = 1"); err != nil {
				return err
			}
			return newProject(actor.With(ctx, actor.From(ctx).In("org_none")), tx, "org_none", "web")
		})
		b := w.begin(w.ctx, "b", nil)
		c := w.begin(w.ctx, "c", nil)
		close(leave)
		w.all.Wait()
		for _, one := range []*writer{a, b, c} {
			if one.err == nil || !strings.Contains(one.err.Error(), "FOREIGN KEY") || one.runs != 1 {
				t.Errorf("%s: %v after %d runs, want the error of COMMIT", one.slug, one.err, one.runs)
			}
		}
		w.expect("after it")
		if d := w.begin(w.ctx, "d", nil); d.err != nil {
			t.Errorf("the next one: %v", d.err)
		}
		w.expect("in the end", "d")
	})
}

func TestMemberThatWasRefusedForWhatIsLostRunsAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w *writers) {
		leave := make(chan struct{})
		a := w.begin(w.ctx, "a", func(ctx context.Context, tx *ent.Tx) error {
			<-leave
			if _, err := tx.ExecContext(ctx, "PRAGMA defer_foreign_keys = 1"); err != nil {
				return err
			}
			return newProject(actor.With(ctx, actor.From(ctx).In("org_none")), tx, "org_none", "web")
		})
		b := w.begin(w.ctx, "b", func(ctx context.Context, tx *ent.Tx) error {
			if seen := writtenOrganizations(ctx, tx.Client()); slices.Contains(seen, "a") {
				return fault.New(fault.DeploymentInProgress, "there is a already")
			}
			return nil
		})
		close(leave)
		w.all.Wait()
		if a.err == nil || b.err != nil || b.runs != 2 {
			t.Errorf("a has ended with %v, b with %v after %d runs, want success in the second", a.err, b.err, b.runs)
		}
		w.expect("in the end", "b")
	})
}

func TestForeignKeyIsItsOwnMembersMatter(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w *writers) {
		leave := make(chan struct{})
		a := w.begin(w.ctx, "a", until(leave))
		b := w.begin(w.ctx, "b", func(ctx context.Context, tx *ent.Tx) error {
			return newProject(actor.With(ctx, actor.From(ctx).In("org_none")), tx, "org_none", "web")
		})
		close(leave)
		w.all.Wait()
		if a.err != nil || b.err == nil || !strings.Contains(b.err.Error(), "FOREIGN KEY") {
			t.Errorf("ended with %v, %v", a.err, b.err)
		}
		w.expect("in the end", "a")
	})
}

func TestMembersRunAgainWhereAnotherHasRuinedTheTransaction(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, w *writers) {
		leave := make(chan struct{})
		a := w.begin(w.ctx, "a", until(leave))
		var afterwards error
		b := w.begin(w.ctx, "b", func(ctx context.Context, tx *ent.Tx) error {
			if _, err := tx.ExecContext(ctx, "PRAGMA max_page_count = 1"); err != nil {
				return err
			}
			full := writeOrganization(ctx, tx, strings.Repeat("x", 100_000))
			afterwards = writeOrganization(ctx, tx, "stray") // outside a transaction, as far as SQLite knows
			return full
		})
		close(leave)
		w.all.Wait()
		if a.err != nil || a.runs != 2 {
			t.Errorf("a has run %d times and ended with %v, want success in the second", a.runs, a.err)
		}
		if !fault.Is(b.err, fault.ServerUnavailable) || !strings.Contains(b.err.Error(), "its disk is full") || b.runs != 1 {
			t.Errorf("b has run %d times and ended with %v", b.runs, b.err)
		}
		if afterwards == nil {
			t.Error("a statement has run outside a transaction")
		}
		w.expect("in the end", "a")
	})
}

func TestGroupIsOnTheDiskWhenItsMembersReturn(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	const full = 2
	for name, want := range map[string]any{"synchronous": int64(full), "journal_mode": "wal", "foreign_keys": int64(1)} {
		must(t, w.Store.Tx(w.Acme.As(actor.Admin), never, func(ctx context.Context, tx *ent.Tx) error {
			rows, err := tx.QueryContext(ctx, "PRAGMA "+name)
			if err != nil {
				return err
			}
			var got any
			err = entsql.ScanOne(rows, &got)
			if got != want {
				t.Errorf("%s is %v, want %v", name, got, want)
			}
			return errors.Join(err, rows.Err(), rows.Close())
		}))
	}
}

// Whatever becomes of a transaction, its writes are there if it was acknowledged, and else not.
func TestOfManyWritersThoseAreWrittenThatAreAcknowledged(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t), store.MaxGroupMembers(5))
	ctx := w.Acme.As(actor.Admin)
	var mu sync.Mutex
	var acknowledged []string
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			for j := range 12 {
				slug := fmt.Sprintf("p%02d-%02d", i, j)
				if err := writeByChance(ctx, w.Store, w.Acme.ID, slug); err == nil {
					mu.Lock()
					acknowledged = append(acknowledged, slug)
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	slices.Sort(acknowledged)
	if got := slugs(ctx, w.Store.Client); !slices.Equal(got, acknowledged) || len(got) == 0 {
		t.Errorf("%d are written and %d acknowledged:\n%v\n%v", len(got), len(acknowledged), got, acknowledged)
	}
}

// writeByChance writes a project in a transaction that fails, panics, is canceled or succeeds.
func writeByChance(ctx context.Context, s *store.Store, organizationID, slug string) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	end := rand.IntN(8)
	if end == 0 {
		go cancel()
	}
	return s.Tx(ctx, never, func(ctx context.Context, tx *ent.Tx) error {
		if err := newProject(ctx, tx, organizationID, slug); err != nil {
			return err
		}
		switch end {
		case 1:
			return errors.New("refused")
		case 2:
			panic("boom")
		case 3: // while the statement runs that never ends by itself
			go cancel()
			_, err := tx.ExecContext(ctx, "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) INSERT INTO organizations (id) SELECT i FROM n WHERE i < 0")
			return err
		case 4:
			go cancel()
		}
		return nil
	})
}
