package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// pairs returns the fields of a type that answer with one record, each with the field that has its id.
func pairs(typeName string) (names []string) {
	fields := schema.Types[typeName].Fields
	for _, f := range fields {
		if !isRecord(f.Type.NamedType) {
			continue
		}
		for _, id := range []string{f.Name + "Id", f.Name + "DeploymentId"} {
			if fields.ForName(id) != nil {
				names = append(names, f.Name+" "+id)
			}
		}
	}
	return names
}

func TestAReferenceIsAnIDAndTheRecordOfThatID(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		compared := 0
		compare := func(r worldtest.Response, typeName string, at ...any) {
			t.Helper()
			for _, pair := range pairs(typeName) {
				field, id, _ := strings.Cut(pair, " ")
				named := r.At(t, append(at, id)...)
				if found := r.At(t, append(at, field)...); named == nil != (found == nil) {
					t.Errorf("%s: %s is %v, %s %v", typeName, id, named, field, found)
				} else if named != nil {
					compared++
					if got := r.At(t, append(at, field, "id")...); got != named {
						t.Errorf("%s: %s is %v, %s has the id %v", typeName, id, named, field, got)
					}
				}
			}
		}
		selected := func(typeName string) string {
			text := ""
			for _, pair := range pairs(typeName) {
				field, id, _ := strings.Cut(pair, " ")
				text += fmt.Sprintf(" %s { id createdAt } %s", field, id)
			}
			return text
		}
		ask := func(query string, variables map[string]any) worldtest.Response {
			t.Helper()
			r := w.GraphQL(t, w.Acme.Tokens[actor.Admin], query, variables)
			if r.At(t, "errors") != nil {
				t.Fatalf("%s: %s", query, r.Body)
			}
			return r
		}

		for name, id := range recorded(t, w, w.Acme) {
			if len(pairs(name)) > 0 {
				r := ask(`query($id: ID!) { node(id: $id) { ... on `+name+` {`+selected(name)+` } } }`, map[string]any{"id": id})
				compare(r, name, "data", "node")
			}
		}
		r := ask(`{ deployments(first: 1) { nodes { requirements {`+selected("Requirement")+` } } } }`, nil)
		compare(r, "Requirement", "data", "deployments", "nodes", 0, "requirements", 0)
		if compared < 16 {
			t.Errorf("only %d references are there", compared)
		}
	})
}

func TestListsThatAreReadWholeGoOnInPages(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		d := p.Succeeded(t)
		for range 4 {
			again, _, err := w.Deploy.Propose.Rollback(w.Acme.As(actor.Developer), propose.Replay{SourceID: d.ID})
			if err != nil {
				t.Fatal(err)
			}
			d = p.Finish(t, again, nil)
		}
		for i := range 4 {
			other := p.NewInstance(t, fmt.Sprint("web-", i))
			p.Finish(t, p.Deploy(t, other.ID, `{"image":"web:1"}`), nil)
			w.GraphQL(t, w.Acme.Tokens[actor.Admin], `mutation($n: String!) {
				createRule(input: {name: $n, demand: {freeze: {from: "2200-01-01T00:00:00Z"}}}) { rule { id } } }`, map[string]any{"n": fmt.Sprint("R", i)})
		}

		for field, id := range map[string]string{
			"Deployment.lineage": d.ID, "ModuleInstance.promotable": p.Instance.ID, "Environment.rules": p.Environment.ID,
		} {
			typeName, name, _ := strings.Cut(field, ".")
			page := func(args string) (ids []string, r worldtest.Response) {
				t.Helper()
				r = w.GraphQL(t, w.Acme.Tokens[actor.Viewer], `query($id: ID!) { node(id: $id) { ... on `+typeName+` { list: `+name+args+
					` { totalCount nodes { id } edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } } }`,
					map[string]any{"id": id})
				nodes, _ := r.At(t, "data", "node", "list", "nodes").([]any)
				for i := range nodes {
					ids = append(ids, r.Text(t, "data", "node", "list", "nodes", i, "id"))
				}
				return ids, r
			}

			all, r := page("")
			if n := r.At(t, "data", "node", "list", "totalCount"); len(all) != 4 || fmt.Sprint(n) != "4" {
				t.Errorf("%s has %v, %v counted: %s", field, all, n, r.Body)
			}
			forward, after := []string{}, ""
			for range 3 {
				var part []string
				part, r = page("(first: 2" + after + ")")
				forward = append(forward, part...)
				if more := r.At(t, "data", "node", "list", "pageInfo", "hasNextPage"); more != (len(forward) < 4) {
					t.Errorf("%s: after %d a next page is %v", field, len(forward), more)
				}
				if len(forward) >= 4 {
					break
				}
				after = fmt.Sprintf(", after: %q", r.Text(t, "data", "node", "list", "pageInfo", "endCursor"))
			}
			if diff := cmp.Diff(all, forward); diff != "" {
				t.Errorf("%s, forward: want (-), got (+):\n%s", field, diff)
			}
			last, r := page("(last: 1)")
			before, _ := page(fmt.Sprintf("(last: 3, before: %q)", r.Text(t, "data", "node", "list", "edges", 0, "cursor")))
			if diff := cmp.Diff(all, append(before, last...)); diff != "" {
				t.Errorf("%s, backward: want (-), got (+):\n%s", field, diff)
			}
			if _, r := page(`(after: "none")`); r.Code(t) != "slipway:Request:CURSOR_INVALID" {
				t.Errorf("%s: no cursor of it: %s", field, r.Body)
			}
		}
	})
}

func TestTheApprovalsOfRequirementsAreReadTogether(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		admin, viewer := w.Acme.Tokens[actor.Admin], w.Acme.Tokens[actor.Viewer]
		for name, demand := range map[string]string{
			"two": `{approvals: {count: 2}}`, "admin": `{approvals: {count: 1, role: ADMIN}}`,
			"alice": `{approvals: {count: 1, holders: ["alice"]}}`, "frozen later": `{freeze: {from: "2200-01-01T00:00:00Z"}}`,
		} {
			r := w.GraphQL(t, admin, `mutation($n: String!, $e: ID!) { createRule(input: {name: $n, environmentId: $e, demand: `+demand+`}) { rule { id } } }`,
				map[string]any{"n": name, "e": p.Environment.ID})
			if r.At(t, "errors") != nil {
				t.Fatalf("%s", r.Body)
			}
		}
		const approve = `mutation($id: ID!) { approveDeployment(input: {id: $id, start: false}) { warnings { rule } deployment { id } } }`
		first := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		w.GraphQL(t, admin, approve, map[string]any{"id": first.ID})
		for i := range 3 {
			p.Deploy(t, p.NewInstance(t, fmt.Sprint("web-", i)).ID, `{"image":"web:1"}`)
		}

		query := func(n int) string {
			return fmt.Sprintf(`{ deployments(last: %d) { nodes { id requirements { rule { name } given approvals { createdBy { name role } deployment { id } } } } } }`, n)
		}
		r := w.GraphQL(t, viewer, query(1), nil)
		want := map[string]any{"two": "1 1", "admin": "1 1", "alice": "0 0", "frozen later": "<nil> none"}
		got := map[string]any{}
		list, _ := r.At(t, "data", "deployments", "nodes", 0, "requirements").([]any)
		for i := range list {
			at := []any{"data", "deployments", "nodes", 0, "requirements", i}
			taken := "none"
			if approvals, ok := r.At(t, append(at, "approvals")...).([]any); ok {
				taken = fmt.Sprint(len(approvals))
				for k := range approvals {
					if r.Text(t, append(at, "approvals", k, "deployment", "id")...) != first.ID {
						t.Errorf("%s", r.Body)
					}
				}
			}
			got[r.Text(t, append(at, "rule", "name")...)] = fmt.Sprint(r.At(t, append(at, "given")...)) + " " + taken
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("want (-), got (+):\n%s%s", diff, r.Body)
		}

		// However many deployments have requirements, their rules and approvals are read at once.
		one := len(w.Statements(func() { w.GraphQL(t, viewer, query(1), nil) }))
		if four := w.Statements(func() { w.GraphQL(t, viewer, query(4), nil) }); len(four) != one {
			t.Errorf("%d statements for one deployment, %d for four:\n%s", one, len(four), strings.Join(four, "\n"))
		}
	})
}

func TestOneRuleTokenAndOrganizationAreFoundByWhoMayReadThem(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		all := recorded(t, w, w.Acme)
		theirs := recorded(t, w, w.Globex)
		for _, c := range []struct{ caller, query, want string }{
			{w.Acme.Tokens[actor.Viewer], `rule(id: "` + all["Rule"] + `") { id }`, all["Rule"]},
			{w.Acme.Tokens[actor.Viewer], `rule(id: "` + theirs["Rule"] + `") { id }`, "slipway:Rule:NOT_FOUND"},
			{w.Acme.Tokens[actor.Viewer], `rule(id: "x") { id }`, "slipway:Rule:NOT_FOUND"},
			{"", `rule(id: "` + all["Rule"] + `") { id }`, "slipway:Request:UNAUTHENTICATED"},
			{w.Acme.Tokens[actor.Admin], `token(id: "` + all["Token"] + `") { id }`, all["Token"]},
			{w.Acme.Tokens[actor.Admin], `token(id: "` + theirs["Token"] + `") { id }`, "slipway:Token:NOT_FOUND"},
			{w.Acme.Tokens[actor.Developer], `token(id: "` + all["Token"] + `") { id }`, "slipway:Token:FORBIDDEN"},
			{w.Acme.Tokens[actor.Viewer], `organization(id: "` + w.Acme.ID + `") { id }`, w.Acme.ID},
			{w.Acme.Tokens[actor.Viewer], `organization(slug: "` + w.Acme.Slug + `") { id }`, w.Acme.ID},
			{w.Acme.Tokens[actor.Admin], `organization(id: "` + w.Globex.ID + `") { id }`, "slipway:Organization:NOT_FOUND"},
			{w.Acme.Tokens[actor.Admin], `organization(slug: "` + w.Globex.Slug + `") { id }`, "slipway:Organization:NOT_FOUND"},
			{w.Acme.Tokens[actor.Admin], `organization(slug: "nobodys") { id }`, "slipway:Organization:NOT_FOUND"},
			{w.Acme.Tokens[actor.Admin], `organization { id }`, "slipway:Request:INVALID"},
			{w.Superadmin, `organization(slug: "` + w.Globex.Slug + `") { id }`, w.Globex.ID},
			{"", `organization(slug: "` + w.Acme.Slug + `") { id }`, "slipway:Request:UNAUTHENTICATED"},
		} {
			r := w.GraphQL(t, c.caller, "{ it: "+c.query+" }", nil)
			got := r.Code(t)
			if got == "" {
				got = r.Text(t, "data", "it", "id")
			}
			if got != c.want {
				t.Errorf("%s: %s, want %s", c.query, got, c.want)
			}
		}
	})
}
