package account_test

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
	"slipway/internal/base/id"
	"slipway/internal/data/page"
	"slipway/internal/service/account"
	"slipway/internal/test/worldtest"
)

var at = time.Date(2026, 3, 1, 9, 30, 0, 125_000_000, time.UTC)

// note writes audit events of an organization beside everything else: a to f, each a minute after the
// one before it, by two actors, of two actions, on three objects. It gives their ids.
func note(t *testing.T, w *worldtest.World, o *worldtest.Org) []string {
	t.Helper()
	var ids []string
	never := func(context.Context, *ent.Client) (bool, error) { return false, nil }
	err := w.Store.Tx(o.As(actor.Admin), never, func(ctx context.Context, tx *ent.Tx) error {
		ids = nil
		for i := range 6 {
			ids = append(ids, id.New(id.AuditEvent))
			// The last two are of one moment.
			err := tx.AuditEvent.Create().SetID(ids[i]).SetOrganizationID(o.ID).SetCreatedAt(at.Add(time.Duration(min(i, 4)) * time.Minute)).
				SetActorID(fmt.Sprint("tok_", i%2)).SetActorName("n").SetActorRole("admin").SetChannel("rest").
				SetAction([]string{"one", "other"}[i/3]).SetObjectID(fmt.Sprint("obj_", i%3)).SetRequestID("").Exec(ctx)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func idsOf(c *page.AuditEventConnection) []string {
	list := []string{}
	for _, e := range c.Edges {
		list = append(list, e.Node.ID)
	}
	return list
}

func TestEventsAreFiltered(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ids := note(t, w, w.Acme)
		note(t, w, w.Globex)
		// Those of the world's making are of today.
		before := new(at.Add(time.Hour))
		for name, c := range map[string]struct {
			filter account.AuditFilter
			want   []int
		}{
			"all":             {account.AuditFilter{}, []int{5, 4, 3, 2, 1, 0}},
			"actor":           {account.AuditFilter{ActorID: new("tok_1")}, []int{5, 3, 1}},
			"action":          {account.AuditFilter{Action: new("one")}, []int{2, 1, 0}},
			"object":          {account.AuditFilter{ObjectID: new("obj_2")}, []int{5, 2}},
			"from":            {account.AuditFilter{CreatedFrom: new(at.Add(3 * time.Minute))}, []int{5, 4, 3}},
			"before":          {account.AuditFilter{CreatedBefore: new(at.Add(3 * time.Minute))}, []int{2, 1, 0}},
			"in another zone": {account.AuditFilter{CreatedBefore: new(at.Add(3 * time.Minute).In(time.FixedZone("", 7200)))}, []int{2, 1, 0}},
			"every condition": {account.AuditFilter{ActorID: new("tok_1"), Action: new("other"), ObjectID: new("obj_2"), CreatedFrom: new(at), CreatedBefore: before}, []int{5}},
			"contradictory":   {account.AuditFilter{Action: new("one"), ObjectID: new("obj_2"), ActorID: new("tok_1")}, []int{}},
			"unknown action":  {account.AuditFilter{Action: new("' OR 1=1 --")}, []int{}},
			"none":            {account.AuditFilter{CreatedFrom: before}, []int{}},
		} {
			if c.filter.CreatedBefore == nil {
				c.filter.CreatedBefore = before
			}
			got, err := w.Accounts.AuditEvents(w.Acme.As(actor.Admin), c.filter, page.Args{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			want := []string{}
			for _, i := range c.want {
				want = append(want, ids[i])
			}
			if diff := cmp.Diff(want, idsOf(got)); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			if n, err := got.TotalCount(w.Acme.As(actor.Admin)); int(n) != len(want) || err != nil {
				t.Errorf("%s: %d in all, want %d, %v", name, n, len(want), err)
			}
		}
	})
}

func TestEventsArePagedBothWays(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		filter := account.AuditFilter{CreatedBefore: new(at.Add(time.Hour))}
		want := note(t, w, w.Acme)
		slices.Reverse(want)
		read := func(args page.Args) *page.AuditEventConnection {
			t.Helper()
			c, err := w.Accounts.AuditEvents(w.Acme.As(actor.Admin), filter, args)
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		for _, size := range []int32{1, 2, 4, 6} {
			var down, up []string
			args := page.Args{First: &size}
			for more := true; more; {
				c := read(args)
				down = append(down, idsOf(c)...)
				args.After, more = c.PageInfo.EndCursor, c.PageInfo.HasNextPage
			}
			args = page.Args{Last: &size}
			for more := true; more; {
				c := read(args)
				up = append(idsOf(c), up...)
				args.Before, more = c.PageInfo.StartCursor, c.PageInfo.HasPreviousPage
			}
			if !slices.Equal(down, want) || !slices.Equal(up, want) {
				t.Errorf("by %d: %v down and %v up, want %v", size, down, up, want)
			}
		}
		// What is noted meanwhile moves no page.
		first := read(page.Args{First: new(int32(3))})
		note(t, w, w.Globex)
		filter.CreatedBefore = nil
		if _, err := w.Accounts.AuditEvents(w.Acme.As(actor.Admin), filter, page.Args{After: first.PageInfo.EndCursor}); !fault.Is(err, fault.RequestCursorInvalid) {
			t.Errorf("under another filter: %v", err)
		}
		filter.CreatedBefore = new(at.Add(time.Hour))
		if _, err := w.Accounts.AuditEvents(w.Globex.As(actor.Admin), filter, page.Args{After: first.PageInfo.EndCursor}); !fault.Is(err, fault.RequestCursorInvalid) {
			t.Errorf("in another organization: %v", err)
		}
		if rest := read(page.Args{After: first.PageInfo.EndCursor}); !slices.Equal(idsOf(rest), want[3:]) {
			t.Errorf("the rest is %v, want %v", idsOf(rest), want[3:])
		}
	})
}

func TestEventsAreForAdmins(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		root := &actor.Actor{ID: "tok_root", Name: "root", Role: actor.Superadmin}
		for name, c := range map[string]struct {
			ctx  context.Context
			code fault.Code
		}{
			"viewer":                {w.Acme.As(actor.Viewer), fault.AuditEventForbidden},
			"developer":             {w.Acme.As(actor.Developer), fault.AuditEventForbidden},
			"runner":                {w.Acme.As(actor.Runner), fault.AuditEventForbidden},
			"anonymous":             {actor.With(t.Context(), actor.Anonymous()), fault.RequestUnauthenticated},
			"superadmin of nothing": {actor.With(t.Context(), root), ""},
			"admin":                 {w.Acme.As(actor.Admin), ""},
			"superadmin of an org":  {actor.With(t.Context(), root.In(w.Acme.ID)), ""},
		} {
			got, err := w.Accounts.AuditEvents(c.ctx, account.AuditFilter{}, page.Args{})
			if c.code != "" && (!fault.Is(err, c.code) || got != nil) || c.code == "" && (err != nil || len(got.Edges) == 0) {
				t.Errorf("%s: %v, want %q", name, err, c.code)
			}
		}
	})
}
