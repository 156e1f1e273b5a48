package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/data/store"
	"slipway/internal/test/worldtest"
)

// stored is a row of tokens; what is empty is null.
type stored struct {
	id, organization, role, holder, principal, createdBy, madeBy, scope, expires, revoked string
}

func insertTokens(t *testing.T, w *worldtest.World, rows []stored) {
	t.Helper()
	value := func(text string) string {
		if text == "" {
			return "NULL"
		}
		return "'" + text + "'"
	}
	var values []string
	for _, r := range rows {
		values = append(values, fmt.Sprintf(`('%s', '2026-01-01 00:00:00+00:00', '2026-01-01 00:00:00+00:00', %s, 'x', '%s', %s, %s, %s, %s, %s, %s, %s, '%[1]s', 'p', 'l')`,
			r.id, value(r.organization), r.role, value(r.holder), value(r.principal), value(r.createdBy), value(r.madeBy), value(r.scope), value(r.expires), value(r.revoked)))
	}
	_, err := w.Raw(t, w.Acme).ExecContext(t.Context(), `INSERT INTO tokens (id, created_at, updated_at, organization_id, name, role, holder, principal_id,
		created_by_id, made_by_id, scope, expires_at, revoked_at, hash, prefix, last_four) VALUES `+strings.Join(values, ", "))
	if err != nil {
		t.Fatal(err)
	}
}

// inTx runs f without a transaction, and in one.
func inTx(t *testing.T, w *worldtest.World, ctx context.Context, f func(ctx context.Context, tx *ent.Tx) error) {
	t.Helper()
	never := func(context.Context, *ent.Client) (bool, error) { return false, nil }
	if err := f(ctx, nil); err != nil {
		t.Error(err)
	}
	if err := w.Store.Tx(ctx, never, f); err != nil {
		t.Error(err)
	}
}

func TestMakersOfFollowsWhoMadeWhoseTokens(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		acme, globex := w.Acme.ID, w.Globex.ID
		insertTokens(t, w, []stored{
			// Root, a superadmin, made Alice's; she made Bob's and one more of hers, and Bob made Carol's.
			{id: "tok_root", role: "superadmin", principal: "tok_root"},
			{id: "tok_second", role: "superadmin", principal: "tok_root", createdBy: "tok_root", madeBy: "tok_root"},
			{id: "tok_alice", organization: acme, role: "admin", principal: "holder:alice", createdBy: "tok_root", madeBy: "tok_root"},
			{id: "tok_alice2", organization: acme, role: "admin", principal: "holder:alice", createdBy: "tok_alice", madeBy: "holder:alice"},
			{id: "tok_bob", organization: acme, role: "admin", principal: "holder:bob", createdBy: "tok_alice", madeBy: "holder:alice"},
			{id: "tok_carol", organization: acme, role: "admin", principal: "holder:carol", createdBy: "tok_bob", madeBy: "holder:bob"},
			{id: "tok_carol2", organization: acme, role: "admin", principal: "holder:carol", createdBy: "tok_bob", madeBy: "holder:bob"},
			// Dan and Eve made one another's.
			{id: "tok_dan", organization: acme, role: "admin", principal: "holder:dan", createdBy: "tok_eve", madeBy: "holder:eve"},
			{id: "tok_eve", organization: acme, role: "admin", principal: "holder:eve", createdBy: "tok_dan", madeBy: "holder:dan"},
			// Of another organization, whose Bob is another.
			{id: "tok_theirs", organization: globex, role: "admin", principal: "holder:bob", createdBy: "tok_x", madeBy: "tok_x"},
			{id: "tok_theirs2", organization: globex, role: "admin", principal: "holder:mallory", createdBy: "tok_x", madeBy: "holder:alice"},
			// An older server made the first by Carol's token, and the second by the first.
			{id: "tok_older", organization: acme, role: "admin", createdBy: "tok_carol"},
			{id: "tok_oldest", organization: acme, role: "admin", createdBy: "tok_older"},
			{id: "tok_line", organization: acme, role: "admin"},
		})
		for name, c := range map[string]struct {
			ctx  context.Context
			of   []string
			want map[string][]string
		}{
			"none":                     {w.Acme.As(actor.Viewer), nil, map[string][]string{}},
			"unknown":                  {w.Acme.As(actor.Viewer), []string{"tok_x"}, map[string][]string{"tok_x": {}}},
			"a superadmin's":           {w.Acme.As(actor.Viewer), []string{"tok_root"}, map[string][]string{"tok_root": {}}},
			"the machine's":            {w.Acme.As(actor.Viewer), []string{"tok_line"}, map[string][]string{"tok_line": {}}},
			"one step":                 {w.Acme.As(actor.Viewer), []string{"holder:alice"}, map[string][]string{"holder:alice": {"tok_root"}}},
			"a chain":                  {w.Acme.As(actor.Viewer), []string{"holder:carol"}, map[string][]string{"holder:carol": {"holder:alice", "holder:bob", "tok_root"}}},
			"a circle":                 {w.Acme.As(actor.Viewer), []string{"holder:dan"}, map[string][]string{"holder:dan": {"holder:eve"}}},
			"several":                  {w.Acme.As(actor.Viewer), []string{"holder:bob", "holder:eve"}, map[string][]string{"holder:bob": {"holder:alice", "tok_root"}, "holder:eve": {"holder:dan"}}},
			"another organization's":   {w.Acme.As(actor.Viewer), []string{"holder:mallory"}, map[string][]string{"holder:mallory": {}}},
			"in another organization":  {w.Globex.As(actor.Viewer), []string{"holder:bob", "holder:carol"}, map[string][]string{"holder:bob": {"tok_x"}, "holder:carol": {}}},
			"an older server's":        {w.Acme.As(actor.Viewer), []string{"tok_carol"}, map[string][]string{"tok_carol": {"holder:alice", "holder:bob", "holder:carol", "tok_root"}}},
			"of an older server's own": {w.Acme.As(actor.Viewer), []string{"tok_older"}, map[string][]string{"tok_older": {"holder:alice", "holder:bob", "holder:carol", "tok_carol", "tok_root"}}},
			"in no organization":       {actor.With(t.Context(), &actor.Actor{Role: actor.Superadmin}), []string{"holder:alice"}, map[string][]string{"holder:alice": {}}},
		} {
			inTx(t, w, c.ctx, func(ctx context.Context, tx *ent.Tx) error {
				got, err := w.Store.MakersOf(ctx, tx, c.of)
				for _, list := range got {
					slices.Sort(list)
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("%s: want (-), got (+):\n%s", name, diff)
				}
				return err
			})
		}
		if _, err := w.Store.MakersOf(t.Context(), nil, []string{"tok_x"}); err == nil {
			t.Error("without an actor")
		}
	})
}

// All of a long line are among the makers: one who is left out would pass for somebody else.
func TestMakersOfFollowsALongLineToItsEnd(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		var rows []stored
		for i := range 2000 {
			rows = append(rows, stored{id: fmt.Sprintf("tok_%04d", i), organization: w.Acme.ID, role: "admin", principal: fmt.Sprintf("holder:%d", i), madeBy: fmt.Sprintf("holder:%d", i+1)})
		}
		insertTokens(t, w, rows)
		got, err := w.Store.MakersOf(w.Acme.As(actor.Viewer), nil, []string{"holder:0", "holder:1990"})
		if err != nil || len(got["holder:0"]) != 2000 || len(got["holder:1990"]) != 10 {
			t.Errorf("%d, %d, %v", len(got["holder:0"]), len(got["holder:1990"]), err)
		}
	})
}

func TestPrincipalsWithCountsThoseWhoHaveSuchAToken(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		at := time.Date(2026, 3, 1, 12, 0, 0, 500_000_000, time.UTC)
		good := stored{id: "tok_1", organization: w.Acme.ID, role: "developer", principal: "holder:alice", holder: "alice"}
		query := store.PrincipalQuery{At: at, Roles: []actor.Role{actor.Developer}}
		const zone = "+00:00"
		scope := `{"projects":["prj_1","prj_2"],"environments":["env_1"]}`
		for name, c := range map[string]struct {
			change func(*stored, *store.PrincipalQuery)
			want   int
		}{
			"such a one":             {func(*stored, *store.PrincipalQuery) {}, 1},
			"another organization's": {func(s *stored, _ *store.PrincipalQuery) { s.organization = w.Globex.ID }, 0},
			"a superadmin's":         {func(s *stored, _ *store.PrincipalQuery) { s.organization = "" }, 0},
			"revoked":                {func(s *stored, _ *store.PrincipalQuery) { s.revoked = "2026-03-01 12:00:01" + zone }, 0},
			"expires later":          {func(s *stored, _ *store.PrincipalQuery) { s.expires = "2026-03-01 12:00:00.500001" + zone }, 1},
			"expires then":           {func(s *stored, _ *store.PrincipalQuery) { s.expires = "2026-03-01 12:00:00.5" + zone }, 0},
			"expired":                {func(s *stored, _ *store.PrincipalQuery) { s.expires = "2026-03-01 12:00:00" + zone }, 0},
			"another role":           {func(s *stored, _ *store.PrincipalQuery) { s.role = "viewer" }, 0},
			"one of the roles":       {func(_ *stored, q *store.PrincipalQuery) { q.Roles = []actor.Role{actor.Admin, actor.Developer} }, 1},
			"no roles":               {func(_ *stored, q *store.PrincipalQuery) { q.Roles = nil }, 0},
			"one of the holders":     {func(_ *stored, q *store.PrincipalQuery) { q.Holders = []string{"bob", "alice"} }, 1},
			"none of the holders":    {func(_ *stored, q *store.PrincipalQuery) { q.Holders = []string{"bob"} }, 0},
			"no holder":              {func(s *stored, q *store.PrincipalQuery) { s.holder, q.Holders = "", []string{"alice"} }, 0},
			"no scope, of a project": {func(_ *stored, q *store.PrincipalQuery) { q.Place.ProjectID = "prj_1" }, 1},
			"a scope, of everything": {func(s *stored, _ *store.PrincipalQuery) { s.scope = scope }, 0},
			"its project":            {func(s *stored, q *store.PrincipalQuery) { s.scope, q.Place.ProjectID = scope, "prj_2" }, 1},
			"another project":        {func(s *stored, q *store.PrincipalQuery) { s.scope, q.Place.ProjectID = scope, "prj_3" }, 0},
			"its environment": {func(s *stored, q *store.PrincipalQuery) {
				s.scope, q.Place = scope, actor.Place{ProjectID: "prj_3", EnvironmentID: "env_1"}
			}, 1},
			"an environment of it": {func(s *stored, q *store.PrincipalQuery) {
				s.scope, q.Place = scope, actor.Place{ProjectID: "prj_1", EnvironmentID: "env_2"}
			}, 1},
			"another environment": {func(s *stored, q *store.PrincipalQuery) {
				s.scope, q.Place = scope, actor.Place{ProjectID: "prj_3", EnvironmentID: "env_2"}
			}, 0},
			"an environment's project": {func(s *stored, q *store.PrincipalQuery) { s.scope, q.Place.ProjectID = scope, "env_1" }, 0},
			"a list that is null": {func(s *stored, q *store.PrincipalQuery) {
				s.scope, q.Place.ProjectID = `{"projects":null,"environments":["env_1"]}`, "prj_1"
			}, 0},
		} {
			s, q := good, query
			c.change(&s, &q)
			if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), `DELETE FROM tokens`); err != nil {
				t.Fatal(err)
			}
			insertTokens(t, w, []stored{s})
			counts(t, w, name, q, c.want)
		}
		insertTokens(t, w, []stored{
			{id: "tok_2", organization: w.Acme.ID, role: "developer", principal: "holder:alice"},
			{id: "tok_3", organization: w.Acme.ID, role: "developer", principal: "tok_3"},
			{id: "tok_4", organization: w.Acme.ID, role: "developer", principal: "tok_3", madeBy: "tok_3"},
			{id: "tok_5", organization: w.Acme.ID, role: "developer", createdBy: "tok_3"}, // an older server's
			{id: "tok_6", organization: w.Acme.ID, role: "developer"},
		})
		insertTokens(t, w, []stored{{id: "tok_7", organization: w.Acme.ID, role: "developer", principal: "holder:alice"}})
		counts(t, w, "several tokens of each", query, 3)
	})
}

func counts(t *testing.T, w *worldtest.World, name string, q store.PrincipalQuery, want int) {
	t.Helper()
	inTx(t, w, w.Acme.As(actor.Admin), func(ctx context.Context, tx *ent.Tx) error {
		got, err := w.Store.PrincipalsWith(ctx, tx, q)
		if len(got) != want {
			t.Errorf("%s: the principals %v, want %d", name, got, want)
		}
		return err
	})
}
