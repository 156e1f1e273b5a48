package account_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/ent/auditevent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/service/account"
	"slipway/internal/test/worldtest"
)

// person is a token, by which more are made.
type person struct {
	*ent.Token
	actor *actor.Actor
}

// maker makes tokens of an organization, or of superadmins, and reads who acts by them as servers do.
func maker(t *testing.T, w *worldtest.World) func(by *actor.Actor, role actor.Role, holder *string) person {
	t.Helper()
	return func(by *actor.Actor, role actor.Role, holder *string) person {
		t.Helper()
		made, secret, err := w.Accounts.CreateToken(actor.With(t.Context(), by), account.NewToken{Name: "x", Role: role, Holder: holder})
		if err != nil {
			t.Fatal(err)
		}
		v, err := w.Accounts.VerifyToken(t.Context(), secret.Hash())
		if err != nil {
			t.Fatal(err)
		}
		return person{made, v.Actor}
	}
}

func TestThePrincipalOfATokenIsItsHolderOrWhoMadeItOrItself(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		token := maker(t, w)
		machine := &actor.Actor{Name: "cli:me", Role: actor.System, Channel: actor.CLI}
		line := token(machine.In(w.Acme.ID), actor.Admin, nil)
		alice := token(machine.In(w.Acme.ID), actor.Admin, new("alice"))
		made := token(line.actor, actor.Admin, nil)
		madeAgain := token(made.actor, actor.Viewer, nil)
		ofAlice := token(alice.actor, actor.Admin, nil)
		bob := token(ofAlice.actor, actor.Admin, new("bob"))
		ofBob := token(bob.actor, actor.Viewer, nil)
		root := token(machine, actor.Superadmin, nil)
		ofRoot := token(root.actor.In(w.Acme.ID), actor.Viewer, nil)
		for name, c := range map[string]struct {
			token             person
			principal, holder string
			maker             string
		}{
			"of the machine":                    {line, line.ID, "", ""},
			"of the machine, for a holder":      {alice, "holder:alice", "alice", ""},
			"made":                              {made, line.ID, "", line.ID},
			"made by one that was made":         {madeAgain, line.ID, "", line.ID},
			"made by a holder":                  {ofAlice, "holder:alice", "", "holder:alice"},
			"made by a holder, for another":     {bob, "holder:bob", "bob", "holder:alice"},
			"made by one that was made for one": {ofBob, "holder:bob", "", "holder:bob"},
			"a superadmin's":                    {root, root.ID, "", ""},
			"made by a superadmin":              {ofRoot, root.ID, "", root.ID},
		} {
			a, stored := c.token.actor, c.token.Token
			if a.PrincipalID != c.principal || a.Holder != c.holder {
				t.Errorf("%s: acts as %q of %q, want %q of %q", name, a.PrincipalID, a.Holder, c.principal, c.holder)
			}
			if stored.PrincipalID == nil || *stored.PrincipalID != c.principal {
				t.Errorf("%s: stored as %v, want %s", name, stored.PrincipalID, c.principal)
			}
			if (stored.MadeByID == nil) != (c.maker == "") || stored.MadeByID != nil && *stored.MadeByID != c.maker {
				t.Errorf("%s: made by %v, want %q", name, stored.MadeByID, c.maker)
			}
		}
		if in := root.actor.In(w.Acme.ID); in.PrincipalID != root.ID || root.actor.InGlobal().PrincipalID != root.ID {
			t.Errorf("a superadmin is %s in an organization", in.PrincipalID)
		}
		if a := actor.From(actor.WithServer(t.Context(), w.Acme.ID)); a.PrincipalID != "" || a.Holder != "" {
			t.Errorf("the server acts as %q of %q", a.PrincipalID, a.Holder)
		}
	})
}

func TestATokenOfAnOlderServerIsItsMakersOrItsOwn(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		for id, by := range map[string]string{"tok_line": "NULL", "tok_made": "'tok_line'"} {
			_, err := w.Raw(t, w.Acme).ExecContext(t.Context(), fmt.Sprintf(`INSERT INTO tokens
				(id, created_at, updated_at, organization_id, name, role, hash, prefix, last_four, created_by_id)
				VALUES ('%[1]s', '2026-01-01 00:00:00+00:00', '2026-01-01 00:00:00+00:00', '%[2]s', 'x', 'admin', '%[1]s', 'p', 'l', %[3]s)`, id, w.Acme.ID, by))
			if err != nil {
				t.Fatal(err)
			}
			v, err := w.Accounts.VerifyToken(t.Context(), id)
			if err != nil || v.Actor.PrincipalID != "tok_line" || v.Actor.Holder != "" {
				t.Errorf("%s: %+v, %v", id, v, err)
			}
		}
	})
}

func TestAHolderIsToldByTheAPIAndTheAudit(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		admin := w.Acme.Tokens[actor.Admin]
		_, id := made(t, w, admin, map[string]any{"name": "alice's", "role": "DEVELOPER", "holder": "alice"})
		_, nobodys := made(t, w, admin, map[string]any{"name": "nobody's", "role": "DEVELOPER", "holder": nil})
		r := w.GraphQL(t, admin, `query($ids: [ID!]!) { nodes(ids: $ids) { ... on Token { holder } } }`, map[string]any{"ids": []string{id, nobodys}})
		if diff := cmp.Diff([]any{map[string]any{"holder": "alice"}, map[string]any{"holder": nil}}, r.At(t, "data", "nodes")); diff != "" {
			t.Error(diff)
		}
		for _, id := range []string{id, nobodys} {
			w.GraphQL(t, admin, revokeToken, map[string]any{"id": id})
		}
		for id, want := range map[string]any{id: "alice", nobodys: nil} {
			events := w.Store.Client.AuditEvent.Query().Where(auditevent.ObjectID(id)).AllX(w.Acme.As(actor.Admin))
			if len(events) != 2 {
				t.Errorf("%d events", len(events))
			}
			for _, e := range events {
				var changes map[string]any
				if err := json.Unmarshal(e.Changes, &changes); err != nil || changes["holder"] != want {
					t.Errorf("%s tells %v of the holder, want %v, %v", e.Action, changes["holder"], want, err)
				}
			}
		}
	})
}

func TestAHolderIsAGivenID(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	before := w.Rows(t)
	for _, holder := range []string{"", "a b", "-a", "alice@example.com", "é", strings.Repeat("a", 61)} {
		_, _, err := w.Accounts.CreateToken(system(w.Acme.ID), account.NewToken{Name: "x", Role: actor.Viewer, Holder: &holder})
		var f *fault.Error
		if !errors.As(err, &f) || f.Code != fault.RequestInvalid || len(f.Violations) != 1 || f.Violations[0].Pointer != "/holder" {
			t.Errorf("%q: %v", holder, err)
		}
		r := create(t, w, w.Acme.Tokens[actor.Admin], map[string]any{"name": "x", "role": "VIEWER", "holder": holder})
		if r.At(t, "errors") == nil || !strings.Contains(string(r.Body), "holder") || !strings.Contains(string(r.Body), "1 to 60 letters") {
			t.Errorf("%q: %s", holder, r.Body)
		}
	}
	if diff := cmp.Diff(before, w.Rows(t)); diff != "" {
		t.Error(diff)
	}
}
