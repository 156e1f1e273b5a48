package account_test

import (
	"fmt"
	"slices"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/service/account"
	"slipway/internal/test/worldtest"
)

func TestATokenWhoseScopeNamesAModulePublishesItAndChangesNothingElse(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, other := w.Fixture(t, w.Acme, "queue"), w.Fixture(t, w.Acme, "other")
		admin := w.Acme.Tokens[actor.Admin]
		r := create(t, w, admin, map[string]any{"name": "ci", "role": "DEVELOPER", "scope": map[string]any{"moduleDefinitionIds": []string{p.Definition.ID, p.Definition.ID}}})
		ci := r.Text(t, "data", "createToken", "secret")
		if got := fmt.Sprint(r.At(t, "data", "createToken", "token", "scope")); got != fmt.Sprintf("map[environmentIds:[] moduleDefinitionIds:[%s] projectIds:[]]", p.Definition.ID) {
			t.Errorf("%s", r.Body)
		}

		publish := func(by, definition, version string) worldtest.Response {
			return w.GraphQL(t, by, `mutation($d: ID!, $v: String!) { publishModuleVersion(input: {
				moduleDefinitionId: $d, version: $v, deploymentType: "terraform", inputs: []}) { moduleVersion { version moduleDefinition { latestVersion } } } }`,
				map[string]any{"d": definition, "v": version})
		}
		if r := publish(ci, p.Definition.ID, "7.0.0"); r.At(t, "errors") != nil || r.Text(t, "data", "publishModuleVersion", "moduleVersion", "moduleDefinition", "latestVersion") != "7.0.0" {
			t.Errorf("%s", r.Body)
		}
		if r := publish(w.Acme.Tokens[actor.Developer], p.Definition.ID, "8.0.0"); r.Code(t) != string(fault.ModuleDefinitionForbidden) {
			t.Errorf("a developer without a scope: %s", r.Body)
		}

		for what, r := range map[string]worldtest.Response{
			"another module": publish(ci, other.Definition.ID, "7.0.0"),
			"the definition": w.GraphQL(t, ci, `mutation($d: ID!) { updateModuleDefinition(input: {id: $d, name: "Mine"}) { moduleDefinition { id } } }`, map[string]any{"d": p.Definition.ID}),
			"a deprecation":  w.GraphQL(t, ci, `mutation($v: ID!) { deprecateModuleVersion(input: {id: $v, reason: "old"}) { moduleVersion { id } } }`, map[string]any{"v": p.Version.ID}),
			"a deployment": w.GraphQL(t, ci, `mutation($i: ID!, $v: ID!) { createDeployment(input: {moduleInstanceId: $i, moduleVersionId: $v, inputs: {}}) { deployment { id } } }`,
				map[string]any{"i": p.Instance.ID, "v": p.Version.ID}),
		} {
			if r.Status != 200 || fault.Code(r.Code(t)).Status() != 403 {
				t.Errorf("%s: %s", what, r.Body)
			}
		}

		v := w.GraphQL(t, ci, `query($d: ID!, $o: ID!, $p: ID!, $e: ID!) {
			viewer { permissions scope { moduleDefinitions { name } projects { id } } }
			own: moduleDefinition(id: $d) { viewerPermissions } other: moduleDefinition(id: $o) { viewerPermissions }
			project(id: $p) { viewerPermissions } environment(id: $e) { viewerPermissions } }`,
			map[string]any{"d": p.Definition.ID, "o": other.Definition.ID, "p": p.Project.ID, "e": p.Environment.ID})
		want := fmt.Sprintf("map[environment:map[viewerPermissions:[READ]] other:map[viewerPermissions:[READ_CATALOG]] own:map[viewerPermissions:[PUBLISH_MODULES READ_CATALOG]]"+
			" project:map[viewerPermissions:[READ]] viewer:map[permissions:[PUBLISH_MODULES READ READ_CATALOG] scope:map[moduleDefinitions:[map[name:%s]] projects:[]]]]", p.Definition.Name)
		if got := fmt.Sprint(v.At(t, "data")); got != want {
			t.Errorf("got  %s\nwant %s", v.Body, want)
		}
	})
}

func TestAScopeNamesModulesThatItsMakerMayPublish(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, other, foreign := w.Fixture(t, w.Acme, "queue"), w.Fixture(t, w.Acme, "other"), w.Fixture(t, w.Globex, "foreign")
		global := w.In(actor.Global).GraphQL(t, w.Superadmin, `mutation { createModuleDefinition(input: {type: "all/queue", name: "Queue"}) { moduleDefinition { id } } }`, nil).
			Text(t, "data", "createModuleDefinition", "moduleDefinition", "id")
		admin := w.Acme.Tokens[actor.Admin]
		scoped := w.Token(t, w.Acme, account.NewToken{Name: "lead", Role: actor.Admin, Scope: account.ScopeOf([]string{p.Project.ID}, nil, []string{p.Definition.ID})})
		for what, c := range map[string]struct {
			by, id string
			code   fault.Code
		}{
			"one of the organization":      {admin, p.Definition.ID, ""},
			"one within the own scope":     {scoped, p.Definition.ID, ""},
			"one outside the own scope":    {scoped, other.Definition.ID, fault.TokenForbidden},
			"one of another organization":  {admin, foreign.Definition.ID, fault.ModuleDefinitionNotFound},
			"a global one":                 {admin, global, fault.RequestInvalid},
			"one that is no id":            {admin, "acme/queue", fault.ModuleDefinitionNotFound},
			"the id of something else":     {admin, p.Project.ID, fault.ModuleDefinitionNotFound},
			"one that is not there at all": {admin, "mod_01h455vb4pex5vsknk084sn02q", fault.ModuleDefinitionNotFound},
		} {
			r := create(t, w, c.by, map[string]any{"name": "ci", "role": "DEVELOPER", "scope": map[string]any{"moduleDefinitionIds": []string{c.id}}})
			if got := fault.Code(r.Code(t)); got != c.code {
				t.Errorf("%s: %s, want %q", what, r.Body, c.code)
			}
		}
	})
}

func TestTheRecordsOfAllScopesAreOneStatementEach(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		admin := w.Acme.Tokens[actor.Admin]
		one, two := w.Fixture(t, w.Acme, "one"), w.Fixture(t, w.Acme, "two")
		for _, p := range []*worldtest.Fixture{one, two} {
			w.Token(t, w.Acme, account.NewToken{Name: "ci", Role: actor.Developer, Scope: account.ScopeOf(
				[]string{p.Project.ID, one.Project.ID}, []string{p.Environment.ID}, []string{p.Definition.ID},
			)})
		}

		const query = `{ tokens { nodes { name scope { projectIds projects { id } environmentIds environments { id slug } moduleDefinitionIds moduleDefinitions { id type } } } } }`
		r := w.GraphQL(t, admin, query, nil) // reads the caller's own token too
		if ran := w.Statements(func() { r = w.GraphQL(t, admin, query, nil) }); len(ran) != 4 {
			t.Errorf("%d statements: %q", len(ran), ran)
		}
		seen := 0
		for i := range 2 {
			for _, kind := range []string{"project", "environment", "moduleDefinition"} {
				given, _ := r.At(t, "data", "tokens", "nodes", i, "scope", kind+"Ids").([]any)
				var found []any
				list, _ := r.At(t, "data", "tokens", "nodes", i, "scope", kind+"s").([]any)
				for _, record := range list {
					found = append(found, record.(map[string]any)["id"])
				}
				if len(given) == 0 || !slices.Equal(given, found) {
					t.Errorf("%s: %v, want %v", kind, found, given)
				}
				seen += len(found)
			}
		}
		if seen != 7 {
			t.Errorf("%d records: %s", seen, r.Body)
		}
	})
}
