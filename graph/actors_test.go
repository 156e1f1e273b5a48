package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/service/account"
	"slipway/internal/test/worldtest"
)

func TestWhoDidSomethingIsReadWithThePage(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, viewer := w.Fixture(t, w.Acme, "web"), w.Acme.Tokens[actor.Viewer]
		alice := w.Token(t, w.Acme, account.NewToken{Name: "laptop", Role: actor.Developer, Holder: new("alice")})
		for i := range 4 {
			token := w.Acme.Tokens[actor.Developer]
			if i%2 == 0 {
				token = alice
			}
			r := w.GraphQL(t, token, `mutation($i: ID!, $v: ID!) { createDeployment(input: {moduleInstanceId: $i, moduleVersionId: $v,
				inputs: {image: "web:1"}, artifact: {arn: "arn:x"}}) { deployment { id } } }`,
				map[string]any{"i": p.NewInstance(t, fmt.Sprint("web-", i)).ID, "v": p.Version.ID})
			if r.At(t, "errors") != nil {
				t.Fatalf("%s", r.Body)
			}
		}
		statements := func(n int, fields string) int {
			query := fmt.Sprintf(`{ deployments(first: %d) { nodes { %s } } }`, n, fields)
			w.GraphQL(t, viewer, query, nil)
			return len(w.Statements(func() { w.GraphQL(t, viewer, query, nil) }))
		}

		without := statements(4, "id")
		for fields, more := range map[string]int{
			"createdBy { name kind tokenId }":                        0,
			"createdBy { name role holder principalId }":             1,
			"createdBy { role } runner { role }":                     1, // nobody runs them
			"createdBy { name } again: createdBy { principalId }":    1,
			"createdBy { role } cancelRequestedBy { name } id":       1,
			"moduleInstance { lastDeployment { createdBy { role }}}": 3,
		} {
			for _, n := range []int{1, 4} {
				if got := statements(n, fields) - without; got != more {
					t.Errorf("%s of %d: %d statements more, want %d", fields, n, got, more)
				}
			}
		}

		r := w.GraphQL(t, viewer, `{ deployments(last: 1) { nodes { createdBy { name kind role holder principalId tokenId } } } }`, nil)
		got, _ := r.At(t, "data", "deployments", "nodes", 0, "createdBy").(map[string]any)
		want := map[string]any{
			"name": "laptop", "kind": "TOKEN", "role": "DEVELOPER", "holder": "alice", "principalId": "holder:alice", "tokenId": got["tokenId"],
		}
		if diff := cmp.Diff(want, got); diff != "" || !strings.HasPrefix(fmt.Sprint(got["tokenId"]), "tok_") {
			t.Errorf("want (-), got (+):\n%s%s", diff, r.Body)
		}
	})
}

func TestTheTokenOfAnActorIsForThoseWhoReadTokens(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		const query = `query($id: ID!) { deployment(id: $id) { createdBy { name role tokenId token { id name } } cancelRequestedBy { token { id } } } }`
		ask := func(token, id string) worldtest.Response { return w.GraphQL(t, token, query, map[string]any{"id": id}) }

		r := ask(w.Acme.Tokens[actor.Admin], d.ID)
		if at := r.Text(t, "data", "deployment", "createdBy", "tokenId"); r.At(t, "errors") != nil || r.At(t, "data", "deployment", "createdBy", "token", "id") != at {
			t.Errorf("an admin: %s", r.Body)
		}
		r = ask(w.Acme.Tokens[actor.Developer], d.ID)
		if r.Code(t) != "slipway:Token:FORBIDDEN" || !pathsOfErrors(t, r)["[deployment createdBy token]"] || r.At(t, "data", "deployment", "createdBy", "role") != "DEVELOPER" {
			t.Errorf("a developer: %s", r.Body)
		}

		// A superadmin's token is none of the organization's.
		made := w.REST(t, "POST", "/graphql", w.Superadmin,
			`{"query": "mutation { createRule(input: {name: \"R\", demand: {freeze: {from: \"2200-01-01T00:00:00Z\"}}}) { rule { id } } }"}`,
			map[string]string{"Slipway-Organization": w.Acme.Slug})
		r = w.GraphQL(t, w.Acme.Tokens[actor.Admin], `query($id: ID!) { rule(id: $id) { createdBy { role principalId token { id } } endedBy { name } } }`,
			map[string]any{"id": made.Text(t, "data", "createRule", "rule", "id")})
		by, _ := r.At(t, "data", "rule", "createdBy").(map[string]any)
		if r.At(t, "errors") != nil || by["role"] != "SUPERADMIN" || by["token"] != nil || by["principalId"] == nil || r.At(t, "data", "rule", "endedBy") != nil {
			t.Errorf("a superadmin's: %s", r.Body)
		}
	})
}

func TestEveryRecordSaysByWhichTokenItWasMadeAndEnded(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		all, admin := recorded(t, w, w.Acme), w.Acme.Tokens[actor.Admin]
		made := w.GraphQL(t, admin, `mutation { createToken(input: {name: "t", role: VIEWER}) { token { id } } }`, nil).Text(t, "data", "createToken", "token", "id")
		p := w.Fixture(t, w.Acme, "other")
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		p.Claim(t, d)
		r := w.GraphQL(t, admin, `mutation($rule: ID!, $release: ID!, $version: ID!, $token: ID!, $d: ID!) {
			endRule(input: {id: $rule}) { rule { createdBy { ...A } endedBy { ...A } } }
			unquarantineRelease(input: {id: $release}) { release { quarantines { nodes { createdBy { ...A } endedBy { ...A } } } } }
			deprecateModuleVersion(input: {id: $version, reason: "old"}) { moduleVersion { deprecation { createdBy { ...A } } } }
			revokeToken(input: {id: $token}) { token { createdBy { ...A } revokedBy { ...A } } }
			cancelDeployment(input: {id: $d}) { deployment { cancelRequestedBy { ...A } runner { kind name } } }
			} fragment A on Actor { name tokenId role }`, map[string]any{
			"rule": all["Rule"], "release": all["Release"], "version": all["ModuleVersion"], "token": made, "d": d.ID,
		})
		who := map[string]any{"name": "admin", "role": "ADMIN", "tokenId": w.GraphQL(t, admin, `{ viewer { tokenId } }`, nil).At(t, "data", "viewer", "tokenId")}
		for _, at := range [][]any{
			{"endRule", "rule", "createdBy"}, {"endRule", "rule", "endedBy"},
			{"unquarantineRelease", "release", "quarantines", "nodes", 0, "createdBy"}, {"unquarantineRelease", "release", "quarantines", "nodes", 0, "endedBy"},
			{"deprecateModuleVersion", "moduleVersion", "deprecation", "createdBy"},
			{"revokeToken", "token", "createdBy"}, {"revokeToken", "token", "revokedBy"}, {"cancelDeployment", "deployment", "cancelRequestedBy"},
		} {
			if diff := cmp.Diff(any(who), r.At(t, append([]any{"data"}, at...)...)); diff != "" {
				t.Errorf("%v: want (-), got (+):\n%s", at, diff)
			}
		}
		if runner := r.At(t, "data", "cancelDeployment", "deployment", "runner"); !cmp.Equal(runner, any(map[string]any{"kind": "TOKEN", "name": "runner"})) {
			t.Errorf("runner %v", runner)
		}
	})
}

func TestAuditEventsLeadToWhatTheyTellOf(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		admin := w.Acme.Tokens[actor.Admin]
		id := w.GraphQL(t, admin, `mutation { createProject(input: {name: "P", slug: "p"}) { project { id } } }`, nil).Text(t, "data", "createProject", "project", "id")
		const query = `{ auditEvents(first: 100, filter: {action: "createProject"}) { nodes { channel actor { name } objectId object { __typename id ... on Project { slug } } } } }`
		r := w.GraphQL(t, admin, query, nil)
		if r.At(t, "errors") != nil || r.At(t, "data", "auditEvents", "nodes", 0, "object", "slug") != "p" || r.At(t, "data", "auditEvents", "nodes", 0, "channel") != "GRAPHQL" {
			t.Errorf("%s", r.Body)
		}

		few := len(w.Statements(func() { w.GraphQL(t, admin, query, nil) }))
		for i := range 3 {
			w.Fixture(t, w.Acme, fmt.Sprint("more-", i))
		}
		if many := len(w.Statements(func() { w.GraphQL(t, admin, query, nil) })); many != few {
			t.Errorf("%d statements, then %d", few, many)
		}

		w.GraphQL(t, admin, `mutation($id: ID!) { deleteProject(input: {id: $id}) { project { id } } }`, map[string]any{"id": id})
		r = w.GraphQL(t, admin, `query($id: ID!) { auditEvents(filter: {objectId: $id}) { nodes { action object { id } } } }`, map[string]any{"id": id})
		if r.At(t, "errors") != nil || r.At(t, "data", "auditEvents", "nodes", 0, "object") != nil || r.At(t, "data", "auditEvents", "nodes", 0, "action") != "deleteProject" {
			t.Errorf("what was deleted: %s", r.Body)
		}
	})
}
