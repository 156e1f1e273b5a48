package rest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/id"
	"slipway/internal/test/worldtest"
)

func TestWhatIsForeignLooksLikeWhatNeverWas(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		s := newStage(t, w)
		token := s.Acme.Tokens[actor.Admin]
		const fixed = "same"
		for _, test := range []struct{ method, before, after, body, foreign, unknown string }{
			{http.MethodPatch, "/default-value-definitions/", "", `{"data":{"name":"x"}}`, s.others.ID, id.New(id.DefaultValueDefinition)},
			{http.MethodGet, "/deployments/", "", "", s.foreign.ID, id.New(id.Deployment)},
			{http.MethodPost, "/deployments/", "/rollback", "", s.foreign.ID, id.New(id.Deployment)},
			{http.MethodPost, "/deployments/", "/redeploy", "", s.foreign.ID, id.New(id.Deployment)},
		} {
			of := func(id string) worldtest.Response {
				return ask(t, w, exchange{test.method, test.before + id + test.after, token, test.body, map[string]string{"X-Request-Id": fixed}})
			}
			foreign, unknown := of(test.foreign), of(test.unknown)
			want := strings.ReplaceAll(string(unknown.Body), test.unknown, test.foreign)
			if foreign.Status != http.StatusNotFound || unknown.Status != http.StatusNotFound || string(foreign.Body) != want {
				t.Errorf("%s %s%s: foreign %d %s, unknown %d %s", test.method, test.before, test.after, foreign.Status, foreign.Body, unknown.Status, unknown.Body)
			}
		}
	})
}

func TestIdsThatAreNoneAreNotFound(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		token := w.Acme.Tokens[actor.Admin]
		for _, id := range []string{"x", "dep_", "%00", "%2F", "..%2f", "a%20b", "%E2%98%83", "%FF", w.Acme.ID, strings.Repeat("a", 5000)} {
			got := ask(t, w, exchange{method: http.MethodGet, path: "/deployments/" + id, token: token})
			if got.Status != http.StatusNotFound {
				t.Errorf("the id %.50q gets %d: %s", id, got.Status, got.Body)
			}
		}
	})
}

func TestAnEscapedIDIsTheSameID(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		d := w.Fixture(t, w.Acme, "web").Succeeded(t)
		escaped := "/deployments/%64" + strings.TrimPrefix(d.ID, "d")
		got := ask(t, w, exchange{method: http.MethodGet, path: escaped, token: w.Acme.Tokens[actor.Viewer]})
		if got.Status != http.StatusOK || got.Text(t, "data", "id") != d.ID {
			t.Errorf("%s gets %d: %s", escaped, got.Status, got.Body)
		}
	})
}

func TestEveryoneSeesTheirOwnCatalogue(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		newStage(t, w)
		for _, test := range []struct {
			token, query string
			want         []string
		}{
			{w.Acme.Tokens[actor.Viewer], "", []string{"queue", "aws/rds", "aws/vpc", "web"}},
			{w.Acme.Tokens[actor.Viewer], "?status=DRAFT", []string{"queue", "aws/rds"}},
			{w.Acme.Tokens[actor.Runner], "?status=ACTIVE", []string{"aws/vpc", "web"}},
			{w.Globex.Tokens[actor.Viewer], "", []string{"aws/rds", "aws/vpc", "web"}},
			{w.Superadmin, "", []string{"aws/rds", "aws/vpc"}},
			{"", "", []string{"aws/vpc"}},
			{"", "?status=ACTIVE", []string{"aws/vpc"}},
			{"", "?status=DRAFT", nil},
		} {
			if got := typesOf(t, ask(t, w, exchange{method: http.MethodGet, path: "/module-definitions" + test.query, token: test.token})); !slices.Equal(got, test.want) {
				t.Errorf("%.20s %s sees %q, want %q", test.token, test.query, got, test.want)
			}
		}
	})
}

func TestPagesJoinToTheWholeList(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		newStage(t, w)
		var all []string
		for path := "/module-definitions?limit=1"; path != ""; {
			got := ask(t, w, exchange{method: http.MethodGet, path: path, token: w.Acme.Tokens[actor.Viewer]})
			all = append(all, typesOf(t, got)...)
			path = ""
			if cursor, more := got.At(t, "meta", "nextCursor").(string); more {
				path = "/module-definitions?limit=1&cursor=" + cursor
			}
		}
		if want := []string{"queue", "aws/rds", "aws/vpc", "web"}; !slices.Equal(all, want) {
			t.Errorf("the pages have %q, want %q", all, want)
		}
	})
}

func typesOf(t *testing.T, got worldtest.Response) []string {
	t.Helper()
	list, ok := got.At(t, "data").([]any)
	if !ok {
		t.Fatalf("no list: %d %s", got.Status, got.Body)
	}
	var types []string
	for i := range list {
		types = append(types, got.Text(t, "data", i, "type"))
	}
	return types
}
