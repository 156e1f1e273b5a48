package paritytest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/test/worldtest"
)

// change is data that changes a definition's name; the other operations take no data.
const change = `{"name":"Changed"}`

func TestEveryRoleIsRefusedAlike(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		own, foreign := recordsOf(t, w, w.Acme), recordsOf(t, w, w.Globex)
		for _, o := range byID {
			notFound, forbidden := fault.DeploymentNotFound, fault.DeploymentForbidden
			if o.name == update.name {
				notFound, forbidden = fault.DefaultValueDefinitionNotFound, fault.DefaultValueDefinitionForbidden
			}
			for role, token := range w.Acme.Tokens {
				for _, id := range unseen(own.id(o), foreign.id(o)) {
					o.refused(t, w, token, id, change, notFound)
				}
				if !may(role, o) {
					o.refused(t, w, token, own.id(o), change, forbidden)
				}
			}
			for _, id := range []string{own.id(o), foreign.id(o), "nonsense"} {
				o.refused(t, w, "", id, change, fault.RequestUnauthenticated)
				o.refused(t, w, w.Superadmin, id, change, fault.RequestOrganizationNeeded)
				o.refused(t, w.In(actor.Global), w.Superadmin, id, change, fault.RequestOrganizationNeeded)
			}
		}
	})
}

// unseen returns ids that name nothing the caller may see: another organization's, one that nothing has,
// one of another kind, and what is no id at all.
func unseen(own, foreign string) []string {
	_, random, _ := strings.Cut(own, "_")
	return []string{foreign, absent(own), "prj_" + random, strings.ToUpper(own), own + "0", "nonsense", `it's "100%"/é`, strings.Repeat("x", 300)}
}

// may reports whether a role may do what an operation does.
func may(role actor.Role, o operation) bool {
	switch o.name {
	case read.name:
		return true
	case update.name:
		return role == actor.Admin
	default:
		return role == actor.Developer || role == actor.Admin
	}
}

func TestBadTokensAreRefusedAlikeAndNothingRuns(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		own := recordsOf(t, w, w.Acme)
		for name, token := range badTokens(t, w) {
			// A server of its own, for too many bad tokens are refused as such.
			server := worldtest.Another(t, w.DatabaseURL)
			server.Acme, server.Globex = w.Acme, w.Globex
			for _, o := range byID {
				o.refused(t, server, token, own.id(o), change, fault.RequestUnauthenticated)
			}
			for _, r := range []worldtest.Response{
				server.REST(t, "GET", "/module-definitions", token, "", nil),
				server.GraphQL(t, token, `{ moduleDefinitions { totalCount } errorCodes { code } }`, nil),
			} {
				if r.Status != 401 || r.Code(t) != string(fault.RequestUnauthenticated) || r.At(t, "data") != nil {
					t.Errorf("%s: status %d: %s", name, r.Status, r.Body)
				}
				if !strings.HasPrefix(r.Header.Get("WWW-Authenticate"), "Bearer") {
					t.Errorf("%s: WWW-Authenticate is %q", name, r.Header.Get("WWW-Authenticate"))
				}
			}
		}
	})
}

func TestRefusedUpdatesAreTheSame(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		d := definition(t, w, w.Acme, "image", plainSchema)
		for _, data := range []string{
			`{"name":""}`,
			`{"name":null}`,
			`{"description":null}`,
			`{"schema":null}`,
			`{"name":null,"description":null,"schema":null}`,
			`{"name":"","schema":{"id":"","label":5,"type":"string","wrong":1}}`,
			`{"schema":{}}`,
			`{"schema":[]}`,
			`{"schema":"text"}`,
			`{"schema":{"id":"a","label":"A","type":"strings"}}`,
			`{"schema":{"id":"a","label":"A"}}`,
			`{"schema":{"id":"a","label":"A","type":"boolean"}}`,
			`{"schema":{"id":"a","label":"A","type":"number","default":1.5,"min":2147483648}}`,
			`{"schema":{"id":"a","label":"A","type":"object_map","item_inputs":[]}}`,
			`{"schema":{"id":"a","label":"A","type":"object_map","item_inputs":[{"id":"b~/c","label":"","type":"text","patterns":[{"pattern":"("}]},{}]}}`,
			`{"schema":{"id":"a","label":"A","type":"$ref:aws/vpc","mapped_inputs":[{"id":"b","label":"B","type":"$ref:x"}]}}`,
		} {
			update.refused(t, w, w.Acme.Tokens[actor.Admin], d.ID, data, fault.RequestInvalid)
		}
		for _, data := range []string{
			`{"schema":{"id":"a","label":"A","type":"number","min":2,"max":1}}`,
			`{"name":"B","schema":{"id":"a","label":"A","type":"object_array","item_inputs":[
				{"id":"b","label":"B","type":"number","min":2,"max":1},{"id":"b","label":"B","type":"section"}]}}`,
		} {
			update.refused(t, w, w.Acme.Tokens[actor.Admin], d.ID, data, fault.DefaultValueDefinitionRuleBroken)
		}
	})
}

func TestALostRaceIsRefusedAlike(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		admin, d := w.Acme.Tokens[actor.Admin], definition(t, w, w.Acme, "image", plainSchema)
		tag := update.rest(t, w, admin, d.ID, `{}`).Header.Get("ETag")
		if changed := update.rest(t, w, admin, d.ID, change); changed.Status != 200 {
			t.Fatalf("status %d: %s", changed.Status, changed.Body)
		}
		before := state(t, w)
		overREST := w.REST(t, update.method, "/default-value-definitions/"+d.ID, admin, `{"data":{"name":"Lost"}}`, map[string]string{"If-Match": tag})
		overGraphQL := update.graphQL(t, w, admin, d.ID, fmt.Sprintf(`{"name":"Lost","expectedVersion":%d}`, d.Version))
		if overREST.Status != 412 || overREST.Code(t) != string(fault.RequestPreconditionFailed) {
			t.Errorf("status %d: %s", overREST.Status, overREST.Body)
		}
		// REST was told entity tags and GraphQL a version, so the messages differ.
		if got := overGraphQL.Code(t); got != string(fault.RequestPreconditionFailed) {
			t.Errorf("GraphQL: %s", overGraphQL.Body)
		}
		if diff := cmp.Diff(before, state(t, w)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestRefusedPagesHaveTheSameCode(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		viewer := w.Acme.Tokens[actor.Viewer]
		w.Fixture(t, w.Acme, "one")
		w.Fixture(t, w.Acme, "two")
		foreign := w.GraphQL(t, w.Superadmin, catalogue, map[string]any{"status": "DRAFT"})
		cursor := w.GraphQL(t, viewer, catalogue, map[string]any{"first": 1}).Text(t, "data", "moduleDefinitions", "pageInfo", "endCursor")
		if foreign.Status != 200 {
			t.Fatalf("%s", foreign.Body)
		}
		for _, c := range []struct {
			token, query string
			variables    map[string]any
			code         fault.Code
		}{
			{viewer, "limit=0", map[string]any{"first": 0}, fault.RequestInvalid},
			{viewer, "limit=101", map[string]any{"first": 101}, fault.RequestInvalid},
			{viewer, "limit=-1", map[string]any{"first": -1}, fault.RequestInvalid},
			{viewer, "cursor=nonsense", map[string]any{"after": "nonsense"}, fault.RequestCursorInvalid},
			{viewer, "status=ACTIVE&cursor=" + cursor, map[string]any{"status": "ACTIVE", "after": cursor}, fault.RequestCursorInvalid},
			{w.Globex.Tokens[actor.Viewer], "cursor=" + cursor, map[string]any{"after": cursor}, fault.RequestCursorInvalid},
			{w.Superadmin, "cursor=" + cursor, map[string]any{"after": cursor}, fault.RequestCursorInvalid},
			{"", "cursor=" + cursor, map[string]any{"after": cursor}, fault.RequestCursorInvalid},
		} {
			overREST := w.REST(t, "GET", "/module-definitions?"+c.query, c.token, "", nil)
			if overREST.Status != c.code.Status() || overREST.Code(t) != string(c.code) {
				t.Errorf("%s: status %d: %s", c.query, overREST.Status, overREST.Body)
			}
			if overGraphQL := w.GraphQL(t, c.token, catalogue, c.variables); overGraphQL.Code(t) != string(c.code) {
				t.Errorf("%v: %s", c.variables, overGraphQL.Body)
			}
		}
	})
}
