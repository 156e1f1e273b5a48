package page_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/page"
	"slipway/internal/service/workspace"
	"slipway/internal/test/worldtest"
)

var day = time.Date(2026, 3, 1, 9, 30, 0, 125_000_000, time.UTC)

// add makes projects that were created at a time, with ids in the order of their names.
func add(t *testing.T, w *worldtest.World, at time.Time, names ...string) {
	t.Helper()
	never := func(context.Context, *ent.Client) (bool, error) { return false, nil }
	err := w.Store.Tx(w.Acme.As(actor.Admin), never, func(ctx context.Context, tx *ent.Tx) error {
		for _, name := range names {
			if err := tx.Project.Create().SetID("prj_" + name).SetOrganizationID(w.Acme.ID).
				SetCreatedAt(at).SetUpdatedAt(at).SetName(name).SetSlug(name).Exec(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// numbered returns the names a0, a1, … in their order.
func numbered(letter string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s%02d", letter, i)
	}
	return names
}

func projects(w *worldtest.World, args page.Args) (*page.ProjectConnection, error) {
	return w.Workspace.Projects(w.Acme.As(actor.Viewer), workspace.ProjectFilter{}, args)
}

func names(c *page.ProjectConnection) []string {
	var list []string
	for _, p := range c.Nodes() {
		list = append(list, p.Name)
	}
	return list
}

func ptr[T any](v T) *T { return &v }

func TestPagesGoThroughTheWholeListEitherWay(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		// Equal times, times a microsecond apart, and the second of each that text would sort wrongly.
		add(t, w, day, numbered("b", 6)...)
		add(t, w, day.Add(time.Microsecond), numbered("c", 5)...)
		add(t, w, day.Truncate(time.Second), numbered("a", 4)...)
		add(t, w, day.Truncate(time.Second).Add(time.Second), numbered("d", 3)...)
		want := slices.Concat(numbered("a", 4), numbered("b", 6), numbered("c", 5), numbered("d", 3))
		slices.Reverse(want)
		for size := int32(1); size <= 19; size++ {
			var got []string
			for after := (*string)(nil); ; {
				c, err := projects(w, page.Args{First: &size, After: after})
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, names(c)...)
				if c.PageInfo.HasPreviousPage != (after != nil) {
					t.Errorf("forward by %d: hasPreviousPage %t", size, c.PageInfo.HasPreviousPage)
				}
				if after = c.PageInfo.EndCursor; !c.PageInfo.HasNextPage {
					break
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("forward by %d:\n%s", size, diff)
			}
			got = nil
			for before := (*string)(nil); ; {
				c, err := projects(w, page.Args{Last: &size, Before: before})
				if err != nil {
					t.Fatal(err)
				}
				got = append(names(c), got...)
				if c.PageInfo.HasNextPage != (before != nil) {
					t.Errorf("backward by %d: hasNextPage %t", size, c.PageInfo.HasNextPage)
				}
				if before = c.PageInfo.StartCursor; !c.PageInfo.HasPreviousPage {
					break
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("backward by %d:\n%s", size, diff)
			}
		}
	})
}

func TestPagesStayInPlaceWhenRowsAreAdded(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		add(t, w, day, "b", "d", "f")
		first, err := projects(w, page.Args{First: ptr(int32(2))})
		if err != nil {
			t.Fatal(err)
		}
		add(t, w, day, "g", "e", "a")
		add(t, w, day.Add(time.Hour), "z")
		next, err := projects(w, page.Args{First: ptr(int32(2)), After: first.PageInfo.EndCursor})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"f", "d", "b", "a"}, append(names(first), names(next)...)); diff != "" {
			t.Error(diff)
		}
		newer, err := projects(w, page.Args{Last: ptr(int32(50)), Before: first.PageInfo.StartCursor})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"z", "g"}, names(newer)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestPageBetweenTwoCursors(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		add(t, w, day, numbered("a", 5)...)
		all, err := projects(w, page.Args{})
		if err != nil {
			t.Fatal(err)
		}
		between := page.Args{After: &all.Edges[0].Cursor, Before: &all.Edges[4].Cursor}
		for _, change := range []func(*page.Args){
			func(*page.Args) {},
			func(a *page.Args) { a.First = ptr(int32(3)) },
			func(a *page.Args) { a.Last = ptr(int32(3)) },
		} {
			args := between
			change(&args)
			c, err := projects(w, args)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"a03", "a02", "a01"}, names(c)); diff != "" {
				t.Error(diff)
			}
		}
	})
}

func TestCountIsOfAllPages(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		add(t, w, day, numbered("a", 7)...)
		for name, args := range map[string]page.Args{"first": {First: ptr(int32(2))}, "last": {Last: ptr(int32(3))}} {
			c, err := projects(w, args)
			if err != nil {
				t.Fatal(err)
			}
			args.First, args.Last, args.After = ptr(int32(2)), nil, c.PageInfo.EndCursor
			next, err := projects(w, args)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range []*page.ProjectConnection{c, next} {
				if n, err := c.TotalCount(w.Acme.As(actor.Viewer)); n != 7 || err != nil {
					t.Errorf("%s: %d, %v, want 7", name, n, err)
				}
			}
		}
	})
}

func TestEmptyListHasNoCursors(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		c, err := projects(w, page.Args{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&page.Info{}, c.PageInfo); diff != "" || c.Edges == nil || len(c.Edges) != 0 || c.Size != 20 {
			t.Errorf("%d edges, size %d, %s", len(c.Edges), c.Size, diff)
		}
	})
}

func TestSizesOutOfRangeAreRefused(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	one := ptr(int32(1))
	for want, args := range map[string]page.Args{
		"first must be between 1 and 100, got 0.":   {First: ptr(int32(0))},
		"first must be between 1 and 100, got -1.":  {First: ptr(int32(-1))},
		"first must be between 1 and 100, got 101.": {First: ptr(int32(101))},
		"last must be between 1 and 100, got 0.":    {Last: ptr(int32(0))},
		"last must be between 1 and 100, got 101.":  {Last: ptr(int32(101))},
		"Give first or last, not both.":             {First: one, Last: one},
	} {
		_, err := projects(w, args)
		if want = "slipway:Request:INVALID: " + want; !fault.Is(err, fault.RequestInvalid) || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if c, err := projects(w, page.Args{First: ptr(int32(100))}); err != nil || c.Size != 100 {
		t.Errorf("%v, %v", c, err)
	}
}
