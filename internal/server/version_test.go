package server_test

import (
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/server"
	"slipway/internal/test/worldtest"
)

func TestARefusedOperationTellsItsCallerTheVersionOfTheServer(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	s := w.Serving(t, func(c *server.Config) { c.Version = "7.1.0" })
	viewer := w.Acme.Tokens[actor.Viewer]
	for _, c := range []struct{ token, query, want string }{
		{viewer, `{ nothing }`, "7.1.0"},
		{viewer, `query($f: ProjectFilter) { projects(filter: $f) { totalCount } }`, "7.1.0"}, // of a field that is not there
		{viewer, `{ viewer { role } }`, ""},
		{"", `{ nothing }`, ""},
	} {
		r := s.GraphQL(t, c.token, c.query, map[string]any{"f": map[string]any{"color": "red"}})
		if got := r.Header.Get("Slipway-Version"); got != c.want {
			t.Errorf("%s has the version %q, want %q: %s", c.query, got, c.want, r.Body)
		}
	}
}
