package page_test

import (
	"context"
	"fmt"
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

// environments makes n environments of each project: equal times, and ids that mix the projects.
func environments(t *testing.T, w *worldtest.World, sizes map[string]int) {
	t.Helper()
	never := func(context.Context, *ent.Client) (bool, error) { return false, nil }
	err := w.Store.Tx(w.Acme.As(actor.Admin), never, func(ctx context.Context, tx *ent.Tx) error {
		for project, n := range sizes {
			for i := range n {
				slug := fmt.Sprintf("%02d-%s", i, project)
				at := day.Add(time.Duration(i/3) * time.Microsecond)
				if err := tx.Environment.Create().SetID("env_" + slug).SetOrganizationID(w.Acme.ID).SetProjectID("prj_" + project).
					SetCreatedAt(at).SetUpdatedAt(at).SetName(slug).SetSlug(slug).Exec(ctx); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestListsReadTogetherAreTheListsReadAlone(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ctx := w.Acme.As(actor.Viewer)
		sizes := map[string]int{"a": 0, "b": 1, "c": 4, "d": 5, "e": 12}
		add(t, w, day, "a", "b", "c", "d", "e")
		environments(t, w, sizes)
		ids := []string{"prj_a", "prj_b", "prj_c", "prj_d", "prj_e", "prj_none"}
		for name, args := range map[string]page.Args{
			"default": {}, "first 4": {First: ptr(int32(4))}, "last 4": {Last: ptr(int32(4))},
			"first 1": {First: ptr(int32(1))}, "last 1": {Last: ptr(int32(1))}, "first 100": {First: ptr(int32(100))},
		} {
			var together map[string]*page.EnvironmentConnection
			ran := w.Statements(func() {
				var err error
				if together, err = w.Workspace.EnvironmentsOf(ctx, ids, workspace.EnvironmentFilter{}, args); err != nil {
					t.Fatal(err)
				}
			})
			if len(ran) != 1 {
				t.Errorf("%s: %d statements, want 1: %q", name, len(ran), ran)
			}
			for _, id := range ids {
				alone, err := w.Workspace.EnvironmentsOf(ctx, []string{id}, workspace.EnvironmentFilter{}, args)
				if err != nil {
					t.Fatal(err)
				}
				listed, err := w.Workspace.Environments(ctx, workspace.EnvironmentFilter{ProjectID: &id}, args)
				if err != nil {
					t.Fatal(err)
				}
				for other, c := range map[string]*page.EnvironmentConnection{"alone": alone[id], "as a list": listed} {
					if diff := cmp.Diff(seen(t, ctx, c), seen(t, ctx, together[id])); diff != "" {
						t.Errorf("%s, %s: %s (-), together (+):\n%s", name, id, other, diff)
					}
				}
				if n, err := together[id].TotalCount(ctx); int(n) != sizes[id[len("prj_"):]] || err != nil {
					t.Errorf("%s, %s: %d in all, %v", name, id, n, err)
				}
			}
		}
	})
}

func TestCountsOfListsReadTogetherTakeOneStatement(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ctx := w.Acme.As(actor.Viewer)
		add(t, w, day, "a", "b")
		environments(t, w, map[string]int{"a": 2, "b": 3})
		together, err := w.Workspace.EnvironmentsOf(ctx, []string{"prj_a", "prj_b"}, workspace.EnvironmentFilter{}, page.Args{})
		if err != nil {
			t.Fatal(err)
		}
		ran := w.Statements(func() {
			for _, c := range together {
				if _, err := c.TotalCount(ctx); err != nil {
					t.Error(err)
				}
			}
		})
		if len(ran) != 1 {
			t.Errorf("%d statements: %q", len(ran), ran)
		}
	})
}

func TestCursorsOfListsReadTogetherGoOn(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ctx := w.Acme.As(actor.Viewer)
		add(t, w, day, "a", "b")
		environments(t, w, map[string]int{"a": 5, "b": 5})
		two := page.Args{First: ptr(int32(2))}
		together, err := w.Workspace.EnvironmentsOf(ctx, []string{"prj_a", "prj_b"}, workspace.EnvironmentFilter{}, two)
		if err != nil {
			t.Fatal(err)
		}
		two.After = together["prj_a"].PageInfo.EndCursor
		next, err := w.Workspace.EnvironmentsOf(ctx, []string{"prj_a"}, workspace.EnvironmentFilter{}, two)
		if err != nil {
			t.Fatal(err)
		}
		if got := next["prj_a"].Nodes(); len(got) != 2 || got[0].Slug != "02-a" || got[1].Slug != "01-a" {
			t.Errorf("%v", got)
		}
		for name, ids := range map[string][]string{"another parent": {"prj_b"}, "both": {"prj_a", "prj_b"}} {
			if _, err := w.Workspace.EnvironmentsOf(ctx, ids, workspace.EnvironmentFilter{}, two); !fault.Is(err, fault.RequestCursorInvalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestListsReadTogetherAreTheViewersOwn(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		theirs, mine := w.Fixture(t, w.Globex, "web"), w.Fixture(t, w.Acme, "web")
		ids := []string{theirs.Project.ID, mine.Project.ID}
		together, err := w.Workspace.EnvironmentsOf(w.Acme.As(actor.Viewer), ids, workspace.EnvironmentFilter{}, page.Args{})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []int32{0, 1} {
			c := together[ids[i]]
			if n, err := c.TotalCount(w.Acme.As(actor.Viewer)); n != want || err != nil || len(c.Edges) != int(want) {
				t.Errorf("%d edges, %d in all, %v, want %d", len(c.Edges), n, err, want)
			}
		}
	})
}

type seenPage struct {
	IDs, Cursors []string
	Info         *page.Info
	Size         int
	Total        int32
}

func seen(t *testing.T, ctx context.Context, c *page.EnvironmentConnection) seenPage {
	t.Helper()
	v := seenPage{Info: c.PageInfo, Size: c.Size}
	for _, e := range c.Edges {
		v.IDs, v.Cursors = append(v.IDs, e.Node.ID), append(v.Cursors, e.Cursor)
	}
	total, err := c.TotalCount(ctx)
	if err != nil {
		t.Error(err)
	}
	v.Total = total
	return v
}
