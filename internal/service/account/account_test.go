package account_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/ent/auditevent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/data/journal"
	"slipway/internal/data/store"
	"slipway/internal/edge/auth"
	"slipway/internal/service/account"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

func system(organizationID string) context.Context {
	return actor.With(context.Background(), &actor.Actor{Name: "test", Role: actor.System, OrganizationID: organizationID, Channel: actor.CLI})
}

// accounts returns the accounts of a world whose time the test moves.
func accounts(w *worldtest.World) (*account.Service, *testkit.Clock) {
	c := testkit.NewClock(store.Now())
	return &account.Service{Store: w.Store, Journal: journal.NewAlone(w.Store, c.Now, id.New), Now: c.Now, Log: slog.New(slog.DiscardHandler)}, c
}

func TestTokenIsGoodUntilItExpires(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		s, clock := accounts(w)
		made, secret, err := s.CreateToken(system(w.Acme.ID), account.NewToken{Name: "ci", Role: actor.Developer, ExpiresIn: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		clock.Advance(time.Hour - time.Microsecond)
		v, err := s.VerifyToken(t.Context(), secret.Hash())
		if err != nil {
			t.Fatal(err)
		}
		want := &auth.Verified{
			Actor:     &actor.Actor{ID: made.ID, Name: "ci", Role: actor.Developer, PrincipalID: made.ID, OrganizationID: w.Acme.ID, ExpiresAt: made.ExpiresAt},
			ExpiresAt: *made.ExpiresAt,
		}
		if diff := cmp.Diff(want, v); diff != "" {
			t.Error(diff)
		}
		clock.Advance(time.Microsecond)
		if v, err := s.VerifyToken(t.Context(), secret.Hash()); !errors.Is(err, auth.ErrUnknownToken) || v != nil {
			t.Errorf("expired: %v, %v", v, err)
		}
	})
}

func TestTokenIsGoodUntilItIsRevoked(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		s, _ := accounts(w)
		made, secret, err := s.CreateToken(system(w.Acme.ID), account.NewToken{Name: "ci", Role: actor.Viewer})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.RevokeToken(system(w.Globex.ID), made.ID); !fault.Is(err, fault.TokenNotFound) {
			t.Errorf("by another organization: %v", err)
		}
		if _, err := s.VerifyToken(t.Context(), secret.Hash()); err != nil {
			t.Errorf("before: %v", err)
		}
		revoked, err := s.RevokeToken(system(w.Acme.ID), made.ID)
		if err != nil || revoked.RevokedAt == nil {
			t.Fatalf("%v, %v", revoked, err)
		}
		if _, err := s.VerifyToken(t.Context(), secret.Hash()); !errors.Is(err, auth.ErrUnknownToken) {
			t.Errorf("after: %v", err)
		}
		again, err := s.RevokeToken(system(w.Acme.ID), made.ID)
		if err != nil || !again.RevokedAt.Equal(*revoked.RevokedAt) {
			t.Errorf("again: %v, %v", again, err)
		}
		if n := w.Store.Client.AuditEvent.Query().Where(auditevent.ObjectID(made.ID)).CountX(system(w.Acme.ID)); n != 2 {
			t.Errorf("%d audit rows, want one of the creation and one of the revocation", n)
		}
		// A server that has not seen the token refuses it as it refuses an unknown one.
		r := w.GraphQL(t, secret.Reveal(), "{ viewer { tokenId } }", nil)
		if r.Status != http.StatusUnauthorized || r.Code(t) != string(fault.RequestUnauthenticated) {
			t.Errorf("%d %s", r.Status, r.Body)
		}
	})
}

func TestUseOfATokenIsNotedOnceAMinute(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		s, clock := accounts(w)
		made, secret, err := s.CreateToken(system(w.Acme.ID), account.NewToken{Name: "ci", Role: actor.Viewer})
		if err != nil {
			t.Fatal(err)
		}
		first := clock.Now()
		for _, step := range []struct {
			wait time.Duration
			want time.Time
		}{{0, first}, {59 * time.Second, first}, {time.Second, first.Add(time.Minute)}} {
			clock.Advance(step.wait)
			if _, err := s.VerifyToken(t.Context(), secret.Hash()); err != nil {
				t.Fatal(err)
			}
			s.StoreUses(t.Context())
			if used := w.Store.Client.Token.GetX(system(""), made.ID).LastUsedAt; used == nil || !used.Equal(step.want) {
				t.Errorf("after %s: %v, want %s", step.wait, used, step.want)
			}
		}
	})
}

func TestTokensAreGoodWhereTheirUseCannotBeNotedWhichIsTriedOnceAMinute(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		s, clock := accounts(w)
		_, secret, err := s.CreateToken(system(w.Acme.ID), account.NewToken{Name: "ci", Role: actor.Viewer})
		if err != nil {
			t.Fatal(err)
		}
		refuse := `CREATE TRIGGER refuse BEFORE UPDATE ON tokens BEGIN SELECT RAISE(ABORT, 'no'); END`
		if strings.HasPrefix(w.DatabaseURL, "postgres") {
			refuse = `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'disk_full'; END $$;
				CREATE TRIGGER refuse BEFORE UPDATE ON tokens FOR EACH ROW EXECUTE FUNCTION refuse()`
		}
		if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), refuse); err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			wait time.Duration
			want int
		}{{0, 1}, {time.Minute - time.Microsecond, 0}, {time.Microsecond, 1}} {
			clock.Advance(step.wait)
			tried := 0
			for _, statement := range w.Statements(func() {
				if _, err := s.VerifyToken(t.Context(), secret.Hash()); err != nil {
					t.Error(err)
				}
				s.StoreUses(t.Context())
			}) {
				if strings.HasPrefix(statement, "UPDATE") {
					tried++
				}
			}
			if tried != step.want {
				t.Errorf("after %s: tried %d times, want %d", step.wait, tried, step.want)
			}
		}
	})
}

func TestSecretIsNotStored(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		made, secret, err := w.Accounts.CreateToken(system(w.Acme.ID), account.NewToken{Name: "ci", Role: actor.Viewer})
		if err != nil {
			t.Fatal(err)
		}
		text := secret.Reveal()
		if made.Hash != secret.Hash() || !strings.HasPrefix(text, made.Prefix) || !strings.HasSuffix(text, made.LastFour) {
			t.Errorf("%v", made)
		}
		unknown := text[len(made.Prefix) : len(text)-4]
		if len(unknown) < 40 || strings.Contains(fmt.Sprintf("%#v", made), unknown) {
			t.Errorf("%d characters of the secret are not stored", len(unknown))
		}
		if _, err := w.Accounts.VerifyToken(t.Context(), text); !errors.Is(err, auth.ErrUnknownToken) {
			t.Errorf("the text is no hash: %v", err)
		}
	})
}

// Who makes tokens on the machine, by slipway token create, has none.
func TestATokenThatNoTokenMadeSaysSo(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		made, _, err := w.Accounts.CreateToken(system(w.Acme.ID), account.NewToken{Name: "ci", Role: actor.Viewer})
		if err != nil {
			t.Fatal(err)
		}
		r := w.GraphQL(t, w.Acme.Tokens[actor.Admin], `query($id: ID!) { node(id: $id) { ... on Token { createdBy { tokenId } } } }`, map[string]any{"id": made.ID})
		if by := r.At(t, "data", "node", "createdBy", "tokenId"); by != nil {
			t.Errorf("it was made by %q: %s", by, r.Body)
		}
	})
}

func TestTokensThatCannotBeMade(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	before := w.Rows(t)
	for at, c := range map[string]struct {
		organization string
		in           account.NewToken
	}{
		"/name":      {w.Acme.ID, account.NewToken{Role: actor.Viewer}},
		"/expiresIn": {w.Acme.ID, account.NewToken{Name: "x", Role: actor.Viewer, ExpiresIn: -time.Second}},
		"/role":      {"", account.NewToken{Name: "x", Role: actor.Viewer}},
		"/scope":     {w.Acme.ID, account.NewToken{Name: "x", Role: actor.Viewer, Scope: &actor.Scope{}}},
		"/scope/environmentIds": {w.Acme.ID, account.NewToken{Name: "x", Role: actor.Viewer, Scope: &actor.Scope{
			Environments: make([]string, 101),
		}}},
	} {
		_, _, err := w.Accounts.CreateToken(system(c.organization), c.in)
		var f *fault.Error
		if !errors.As(err, &f) || f.Code != fault.RequestInvalid || len(f.Violations) != 1 || f.Violations[0].Pointer != at {
			t.Errorf("%s: %v", at, err)
		}
	}
	if _, _, err := w.Accounts.CreateToken(system(w.Acme.ID), account.NewToken{Name: "x", Role: actor.Superadmin}); !fault.Is(err, fault.RequestInvalid) {
		t.Errorf("a superadmin of an organization: %v", err)
	}
	if _, _, err := w.Accounts.CreateToken(system(w.Acme.ID), account.NewToken{Name: "x", Role: "owner"}); !fault.Is(err, fault.TokenForbidden) {
		t.Errorf("a role that there is not: %v", err)
	}
	if diff := cmp.Diff(before, w.Rows(t)); diff != "" {
		t.Error(diff)
	}
}

func TestOrganizationsAreTheirMembersToSee(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		superadmin := actor.With(t.Context(), &actor.Actor{Name: "root", Role: actor.Superadmin})
		for name, c := range map[string]struct {
			ctx  context.Context
			id   string
			code fault.Code
		}{
			"own":                {w.Acme.As(actor.Viewer), w.Acme.ID, ""},
			"another's":          {w.Acme.As(actor.Admin), w.Globex.ID, fault.OrganizationNotFound},
			"absent":             {w.Acme.As(actor.Admin), id.New(id.Organization), fault.OrganizationNotFound},
			"any, by superadmin": {superadmin, w.Globex.ID, ""},
			"anonymous":          {actor.With(t.Context(), actor.Anonymous()), w.Acme.ID, fault.RequestUnauthenticated},
		} {
			o, err := w.Accounts.OrganizationByID(c.ctx, c.id)
			if c.code != "" && !fault.Is(err, c.code) || c.code == "" && (err != nil || o.ID != c.id) {
				t.Errorf("%s: %v, %v", name, o, err)
			}
		}
	})
}

func TestOrganizationSlugIsTakenOnce(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		before := w.Rows(t)
		if _, err := w.Accounts.CreateOrganization(system(""), "Acme again", "acme"); !fault.Is(err, fault.OrganizationSlugTaken) {
			t.Errorf("%v", err)
		}
		_, err := w.Accounts.CreateOrganization(system(""), "", "a b")
		var f *fault.Error
		if !errors.As(err, &f) || f.Code != fault.RequestInvalid || len(f.Violations) != 2 {
			t.Errorf("%v", err)
		}
		if diff := cmp.Diff(before, w.Rows(t)); diff != "" {
			t.Error(diff)
		}
	})
}
