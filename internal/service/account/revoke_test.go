package account_test

import (
	"slices"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/service/account"
	"slipway/internal/test/worldtest"
)

func TestAnAdminRevokesWhatIsWithinItsScopeAndNothingElse(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		one, other := w.Fixture(t, w.Acme, "one"), w.Fixture(t, w.Acme, "other")
		projectOf := map[string]string{one.Environment.ID: one.Project.ID, other.Environment.ID: other.Project.ID}
		scopes := map[string]*actor.Scope{
			"everywhere":         nil,
			"one":                {Projects: []string{one.Project.ID}},
			"other":              {Projects: []string{other.Project.ID}},
			"both":               {Projects: []string{one.Project.ID, other.Project.ID}},
			"in one":             {Environments: []string{one.Environment.ID}},
			"in other":           {Environments: []string{other.Environment.ID}},
			"in both":            {Environments: []string{one.Environment.ID, other.Environment.ID}},
			"one and in other":   {Projects: []string{one.Project.ID}, Environments: []string{other.Environment.ID}},
			"one and in one":     {Projects: []string{one.Project.ID}, Environments: []string{one.Environment.ID}},
			"other and in one":   {Projects: []string{other.Project.ID}, Environments: []string{one.Environment.ID}},
			"both and in both":   {Projects: []string{one.Project.ID, other.Project.ID}, Environments: []string{one.Environment.ID, other.Environment.ID}},
			"in one, no project": {Projects: []string{}, Environments: []string{one.Environment.ID}},
		}
		// within is the rule as the guide has it.
		within := func(token, admin *actor.Scope) bool {
			switch {
			case admin == nil:
				return true
			case token == nil:
				return false
			}
			for _, p := range token.Projects {
				if !slices.Contains(admin.Projects, p) {
					return false
				}
			}
			for _, e := range token.Environments {
				if !slices.Contains(admin.Environments, e) && !slices.Contains(admin.Projects, projectOf[e]) {
					return false
				}
			}
			return true
		}
		allowed := 0
		for adminName, admin := range scopes {
			by := w.Token(t, w.Acme, account.NewToken{Name: adminName, Role: actor.Admin, Scope: admin})
			for name, scope := range scopes {
				held := w.Token(t, w.Acme, account.NewToken{Name: name, Role: actor.Viewer, Scope: scope})
				id := w.GraphQL(t, held, `{ viewer { tokenId } }`, nil).Text(t, "data", "viewer", "tokenId")
				want, status := "", 401
				if !within(scope, admin) {
					want, status = string(fault.TokenForbidden), 200
				} else {
					allowed++
				}
				r := w.GraphQL(t, by, revokeToken, map[string]any{"id": id})
				if r.Code(t) != want {
					t.Errorf("an admin of %q revokes a token of %q: %q, want %q: %s", adminName, name, r.Code(t), want, r.Body)
				}
				if after := w.GraphQL(t, held, `{ viewer { tokenId } }`, nil); after.Status != status {
					t.Errorf("after an admin of %q has revoked a token of %q: %d, want %d", adminName, name, after.Status, status)
				}
			}
		}
		if all := len(scopes) * len(scopes); allowed < 2*len(scopes) || allowed > all/2 {
			t.Errorf("%d of %d are allowed", allowed, all)
		}
	})
}
