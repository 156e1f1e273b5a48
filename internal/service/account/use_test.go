package account_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"slipway/ent/token"
	"slipway/internal/base/actor"
	"slipway/internal/service/account"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// used uses new tokens of both organizations and returns the ids of the tokens.
func used(t *testing.T, w *worldtest.World, s *account.Service) (ids []string) {
	t.Helper()
	for _, organization := range []string{w.Acme.ID, w.Acme.ID, w.Globex.ID} {
		made, secret, err := s.CreateToken(system(organization), account.NewToken{Name: "ci", Role: actor.Viewer})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.VerifyToken(t.Context(), secret.Hash()); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, made.ID)
	}
	return ids
}

func TestTheUsesOfManyTokensAreOneWrite(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		s, clock := accounts(w)
		var ids []string
		if ran := w.Statements(func() { ids = used(t, w, s) }); strings.Contains(strings.Join(ran, "\n"), "UPDATE") {
			t.Errorf("requests wait for a write: %q", ran)
		}
		last := clock.Now()
		if ran := w.Statements(func() { s.StoreUses(t.Context()) }); len(ran) != 1 || !strings.HasPrefix(ran[0], "UPDATE") {
			t.Errorf("%q", ran)
		}
		for _, one := range w.Store.Client.Token.Query().Where(token.IDIn(ids...)).AllX(system("")) {
			if one.LastUsedAt == nil || !one.LastUsedAt.Equal(last) {
				t.Errorf("%s was used at %v, want %s", one.ID, one.LastUsedAt, last)
			}
		}
		if ran := w.Statements(func() { s.StoreUses(t.Context()) }); len(ran) != 0 {
			t.Errorf("again: %q", ran)
		}
	})
}

func TestUsesAreStoredWhileTheServerRunsAndWhenItStops(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		s, clock := accounts(w)
		stored := func(ids []string) bool {
			return w.Store.Client.Token.Query().Where(token.IDIn(ids...), token.LastUsedAtNotNil()).CountX(system("")) == len(ids)
		}
		before := used(t, w, s)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var running sync.WaitGroup
		running.Go(func() { s.RunUses(ctx) })
		testkit.Eventually(t, "a use from before is stored", func() bool { return stored(before) })
		during := used(t, w, s)
		testkit.Eventually(t, "a use is stored", func() bool { return stored(during) })
		clock.Advance(time.Hour)
		last := used(t, w, s)
		stop()
		running.Wait()
		if !stored(last) {
			t.Error("the last uses are not stored")
		}
	})
}
