package graph_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"slipway/ent/moduledefinition"
	"slipway/internal/base/actor"
	"slipway/internal/service/catalog"
	"slipway/internal/test/worldtest"
)

// lookups are the fields that find a record by its id or by another name, with an example of each.
func lookups(mine *worldtest.Fixture) map[string]struct{ argument, name, id string } {
	return map[string]struct{ argument, name, id string }{
		"project":          {"slug", "shop", mine.Project.ID},
		"environment":      {"path", "shop/production", mine.Environment.ID},
		"moduleInstance":   {"path", "shop/production/web", mine.Instance.ID},
		"moduleDefinition": {"type", "shop", mine.Definition.ID},
	}
}

func TestARecordIsFoundByItsIDOrByItsOtherName(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		// Another organization has the same names, and this one has some of them elsewhere.
		w.Fixture(t, w.Globex, "shop")
		w.Fixture(t, w.Acme, "other")
		mine := w.Fixture(t, w.Acme, "shop")
		w.Fixture(t, w.Globex, "theirs")
		ask := func(field, arguments string) string {
			t.Helper()
			return string(w.GraphQL(t, w.Acme.Tokens[actor.Viewer], fmt.Sprintf(`{ found: %s%s { id } }`, field, arguments), nil).Body)
		}
		for field, want := range lookups(mine) {
			by := func(name string) string { return fmt.Sprintf("(%s: %q)", want.argument, name) }
			found := `{"data":{"found":{"id":"` + want.id + `"}}`
			for _, arguments := range []string{by(want.name), fmt.Sprintf(`(id: %q, %s: null)`, want.id, want.argument)} {
				if got := ask(field, arguments); !strings.HasPrefix(got, found) {
					t.Errorf("%s%s: %s, want %s", field, arguments, got, found)
				}
			}
			foreign := strings.Replace(want.name, "shop", "theirs", 1)
			for arguments, code := range map[string]string{
				by(foreign): ":NOT_FOUND", by(strings.Replace(want.name, "shop", "absent", 1)): ":NOT_FOUND",
				by(want.name + "/"): "slipway:Request:INVALID", by(""): "slipway:Request:INVALID", by("a b"): "slipway:Request:INVALID",
				fmt.Sprintf(`(%s: "\u0000")`, want.argument): "slipway:Request:INVALID", by(strings.Repeat("a", 201)): "slipway:Request:INVALID",
				fmt.Sprintf("(id: %q, %s: %q)", want.id, want.argument, want.name): "found both",
				fmt.Sprintf("(id: null, %s: null)", want.argument):                 "found neither",
				"": "found neither",
			} {
				if got := ask(field, arguments); !strings.Contains(got, code) || !strings.Contains(got, `"found":null`) {
					t.Errorf("%s%s: %s, want %s", field, arguments, got, code)
				}
			}
			absent, theirs := ask(field, by(strings.Replace(want.name, "shop", "absent", 1))), ask(field, by(foreign))
			if withoutRequest(absent) != withoutRequest(strings.ReplaceAll(theirs, "theirs", "absent")) {
				t.Errorf("%s: what is absent is answered with %s, what is another's with %s", field, absent, theirs)
			}
		}
	})
}

// withoutRequest returns an answer without the id of its request.
func withoutRequest(answer string) string {
	before, after, _ := strings.Cut(answer, `"requestId":"`)
	_, after, _ = strings.Cut(after, `"`)
	return before + after
}

func TestAnOrganizationsOwnModuleGoesBeforeAGlobalOneOfItsType(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ids := map[string]string{}
		for owner, as := range map[string]context.Context{
			"global": actor.With(t.Context(), &actor.Actor{ID: "tok_root", Name: "root", Role: actor.Superadmin, Globally: true, Channel: actor.CLI}), "acme": w.Acme.As(actor.Admin),
		} {
			d, _, err := w.Catalog.CreateDefinition(as, catalog.NewDefinition{Name: "Queue", Type: "queue", Status: moduledefinition.StatusACTIVE})
			if err != nil {
				t.Fatal(err)
			}
			ids[owner] = d.ID
		}
		for token, want := range map[string]string{
			w.Acme.Tokens[actor.Viewer]: ids["acme"], w.Globex.Tokens[actor.Viewer]: ids["global"], "": ids["global"],
		} {
			var got struct {
				Data struct{ ModuleDefinition struct{ ID string } }
			}
			answer := w.GraphQL(t, token, `{ moduleDefinition(type: "queue") { id } }`, nil).Body
			if err := json.Unmarshal(answer, &got); err != nil || got.Data.ModuleDefinition.ID != want {
				t.Errorf("%s, want %s", answer, want)
			}
		}
	})
}
