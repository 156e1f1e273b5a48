package account_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/service/account"
	"slipway/internal/test/worldtest"
)

const tokenFields = `id name role organizationId scope { projectIds environmentIds moduleDefinitionIds } holder prefix lastFour createdBy { name kind tokenId } createdAt expiresAt lastUsedAt revokedAt`

const createToken = `mutation($input: CreateTokenInput!) { createToken(input: $input) { secret token { ` + tokenFields + ` } } }`

const revokeToken = `mutation($id: ID!) { revokeToken(input: {id: $id}) { token { id revokedAt } } }`

func create(t *testing.T, w *worldtest.World, by string, input map[string]any) worldtest.Response {
	t.Helper()
	return w.GraphQL(t, by, createToken, map[string]any{"input": input})
}

// made creates a token and returns its secret and its id.
func made(t *testing.T, w *worldtest.World, by string, input map[string]any) (secret, id string) {
	t.Helper()
	r := create(t, w, by, input)
	return r.Text(t, "data", "createToken", "secret"), r.Text(t, "data", "createToken", "token", "id")
}

func TestATokenIsMadeAndWorks(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		admin := w.Acme.Tokens[actor.Admin]
		adminID := w.GraphQL(t, admin, `{ viewer { tokenId } }`, nil).Text(t, "data", "viewer", "tokenId")
		before := time.Now()
		r := create(t, w, admin, map[string]any{
			"name": "ci", "role": "DEVELOPER", "scope": map[string]any{"projectIds": []string{p.Project.ID, p.Project.ID}, "environmentIds": []string{}},
		})
		secret := r.Text(t, "data", "createToken", "secret")
		token, _ := r.At(t, "data", "createToken", "token").(map[string]any)
		if token == nil || !regexp.MustCompile(`^slp_developer_[0-9A-Za-z]{49}$`).MatchString(secret) {
			t.Fatalf("%s", r.Body)
		}
		end, err := time.Parse(time.RFC3339Nano, fmt.Sprint(token["expiresAt"]))
		if life := end.Sub(before); err != nil || life < 90*24*time.Hour-time.Minute || life > 90*24*time.Hour+time.Minute {
			t.Errorf("expires at %v", token["expiresAt"])
		}
		want := map[string]any{
			"id": token["id"], "name": "ci", "role": "DEVELOPER", "organizationId": w.Acme.ID, "createdBy": map[string]any{"name": "admin", "kind": "TOKEN", "tokenId": adminID}, "holder": nil,
			"scope":  map[string]any{"projectIds": []any{p.Project.ID}, "environmentIds": []any{}, "moduleDefinitionIds": []any{}},
			"prefix": secret[:len("slp_developer_xxxx")], "lastFour": secret[len(secret)-4:],
			"createdAt": token["createdAt"], "expiresAt": token["expiresAt"], "lastUsedAt": nil, "revokedAt": nil,
		}
		if diff := cmp.Diff(want, token); diff != "" {
			t.Error(diff)
		}
		v := w.GraphQL(t, secret, `{ viewer { tokenId name role organizationId expiresAt leaseSeconds scope { projectIds environmentIds moduleDefinitionIds } permissions } }`, nil)
		viewer, _ := v.At(t, "data", "viewer").(map[string]any)
		if viewer["tokenId"] != token["id"] || viewer["name"] != "ci" || viewer["organizationId"] != w.Acme.ID || viewer["expiresAt"] != token["expiresAt"] ||
			fmt.Sprint(viewer["leaseSeconds"]) != "300" || !cmp.Equal(viewer["scope"], token["scope"]) ||
			fmt.Sprint(viewer["permissions"]) != "[CREATE_INSTANCES DEPLOY READ READ_CATALOG]" {
			t.Errorf("%s", v.Body)
		}
		w.Accounts.StoreUses(t.Context())
		n := w.GraphQL(t, admin, `query($id: ID!) { node(id: $id) { __typename ... on Token { name lastUsedAt } } }`, map[string]any{"id": token["id"]})
		if n.Text(t, "data", "node", "name") != "ci" || n.At(t, "data", "node", "lastUsedAt") == nil {
			t.Errorf("%s", n.Body)
		}
		for by, c := range map[string]struct {
			token string
			want  fault.Code
		}{
			"developer":          {w.Acme.Tokens[actor.Developer], fault.TokenForbidden},
			"another's admin":    {w.Globex.Tokens[actor.Admin], fault.NodeNotFound},
			"superadmin of none": {w.Superadmin, fault.NodeNotFound},
		} {
			if n := w.GraphQL(t, c.token, `query($id: ID!) { node(id: $id) { id } }`, map[string]any{"id": viewer["tokenId"]}); n.Code(t) != string(c.want) {
				t.Errorf("%s: %s", by, n.Body)
			}
		}
	})
}

func TestTheEndOfATokenIsBounded(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		now := time.Now().UTC()
		for name, c := range map[string]struct {
			end    time.Time
			rule   string
			allows string
		}{
			"in a minute":    {now.Add(time.Minute), "", ""},
			"in a year":      {now.Add(366*24*time.Hour - time.Minute), "", ""},
			"after a year":   {now.Add(366*24*time.Hour + time.Minute), "max", "within 366 days"},
			"in a long time": {now.AddDate(5000, 0, 0), "max", "within 366 days"},
			"just now":       {now.Add(-time.Second), "future", "in the future"},
			"long ago":       {time.Unix(0, 0).UTC(), "future", "in the future"},
		} {
			text := c.end.Format(time.RFC3339Nano)
			r := create(t, w, w.Acme.Tokens[actor.Admin], map[string]any{"name": "x", "role": "VIEWER", "expiresAt": text})
			if c.rule == "" {
				if r.Text(t, "data", "createToken", "token", "expiresAt") == "" {
					t.Errorf("%s: %s", name, r.Body)
				}
				continue
			}
			v, _ := r.At(t, "errors", 0, "extensions", "metadata", "violations", 0).(map[string]any)
			if r.Code(t) != string(fault.RequestInvalid) || v["pointer"] != "/input/expiresAt" || v["rule"] != c.rule ||
				!strings.Contains(fmt.Sprint(v["message"]), c.allows) || !strings.Contains(fmt.Sprint(v["message"]), c.end.Truncate(time.Microsecond).Format(time.RFC3339Nano)) {
				t.Errorf("%s, %s: %s", name, text, r.Body)
			}
		}
		if r := create(t, w, w.Acme.Tokens[actor.Admin], map[string]any{"name": "x", "role": "VIEWER", "expiresAt": nil}); r.At(t, "data", "createToken", "token", "expiresAt") == nil {
			t.Errorf("null: %s", r.Body)
		}
	})
}

// refusals wants each input refused with its code by whoever asks, and nothing made.
func refusals(t *testing.T, w *worldtest.World, cases map[string]struct {
	by    string
	input map[string]any
	code  fault.Code
}) {
	t.Helper()
	before := w.Rows(t)
	for name, c := range cases {
		if r := create(t, w, c.by, c.input); r.Code(t) != string(c.code) || r.At(t, "data", "createToken") != nil || strings.Contains(string(r.Body), "slp_") {
			t.Errorf("%s: want %s: %s", name, c.code, r.Body)
		}
	}
	if diff := cmp.Diff(before, w.Rows(t)); diff != "" {
		t.Error(diff)
	}
}

func TestNobodyMakesMoreThanHeHas(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		one, other, foreign := w.Fixture(t, w.Acme, "one"), w.Fixture(t, w.Acme, "other"), w.Fixture(t, w.Globex, "web")
		scoped := w.Token(t, w.Acme, account.NewToken{Name: "scoped", Role: actor.Admin, Scope: &actor.Scope{Projects: []string{one.Project.ID}}})
		single := w.Token(t, w.Acme, account.NewToken{Name: "single", Role: actor.Admin, Scope: &actor.Scope{Environments: []string{one.Environment.ID}}})
		input := func(role actor.Role, lists ...[]string) map[string]any {
			in := map[string]any{"name": "x", "role": strings.ToUpper(string(role))}
			scope := map[string]any{}
			for i, list := range lists {
				scope[[]string{"projectIds", "environmentIds"}[i]] = list
			}
			if len(lists) > 0 {
				in["scope"] = scope
			}
			return in
		}
		many := slices.Repeat([]string{""}, 101)
		for i := range many {
			many[i] = fmt.Sprintf("prj_%026d", i)
		}
		projects, environments := []string{one.Project.ID}, []string{one.Environment.ID}
		admin := w.Acme.Tokens[actor.Admin]
		cases := map[string]struct {
			by    string
			input map[string]any
			code  fault.Code
		}{
			"anonymous":                       {"", input(actor.Viewer), fault.RequestUnauthenticated},
			"admin a superadmin":              {admin, input(actor.Superadmin), fault.TokenForbidden},
			"superadmin of none a superadmin": {w.Superadmin, input(actor.Superadmin), fault.RequestOrganizationNeeded},
			"nothing in the scope":            {admin, input(actor.Viewer, []string{}), fault.RequestInvalid},
			"too much in the scope":           {admin, input(actor.Viewer, many), fault.RequestInvalid},
			"without a name":                  {admin, map[string]any{"name": "", "role": "VIEWER"}, fault.RequestInvalid},
			"another's project":               {admin, input(actor.Viewer, []string{foreign.Project.ID}), fault.ProjectNotFound},
			"another's environment":           {admin, input(actor.Viewer, nil, []string{foreign.Environment.ID}), fault.EnvironmentNotFound},
			"no project":                      {admin, input(actor.Viewer, []string{"prj_01h455vb4pex5vsknk084sn02q"}), fault.ProjectNotFound},
			"an environment as project":       {admin, input(actor.Viewer, environments), fault.ProjectNotFound},
			"no id":                           {admin, input(actor.Viewer, projects, []string{"\x00"}), fault.EnvironmentNotFound},
			"scoped admin everything":         {scoped, input(actor.Viewer), fault.TokenForbidden},
			"scoped admin another project":    {scoped, input(actor.Viewer, []string{one.Project.ID, other.Project.ID}), fault.TokenForbidden},
			"scoped admin another's place":    {scoped, input(actor.Viewer, nil, []string{other.Environment.ID}), fault.TokenForbidden},
			"single admin the project":        {single, input(actor.Viewer, projects), fault.TokenForbidden},
			"scoped admin, another's project": {scoped, input(actor.Viewer, []string{foreign.Project.ID}), fault.ProjectNotFound},
		}
		for _, role := range []actor.Role{actor.Viewer, actor.Developer, actor.Runner} {
			cases[string(role)] = struct {
				by    string
				input map[string]any
				code  fault.Code
			}{w.Acme.Tokens[role], input(role), fault.TokenForbidden}
		}
		refusals(t, w, cases)
		refusals(t, w.In(actor.Global), map[string]struct {
			by    string
			input map[string]any
			code  fault.Code
		}{
			"superadmin a viewer":     {w.Superadmin, input(actor.Viewer), fault.RequestInvalid},
			"superadmin with a scope": {w.Superadmin, input(actor.Superadmin, projects), fault.RequestInvalid},
		})
		refusals(t, w.In("acme"), map[string]struct {
			by    string
			input map[string]any
			code  fault.Code
		}{"superadmin a superadmin in an organization": {w.Superadmin, input(actor.Superadmin), fault.RequestInvalid}})
		if r := create(t, w.In(actor.Global), w.Superadmin, input(actor.Superadmin)); r.At(t, "errors") != nil {
			t.Errorf("superadmin a superadmin: %s", r.Body)
		}
		if r := create(t, w.In("acme"), w.Superadmin, input(actor.Admin)); r.Text(t, "data", "createToken", "token", "organizationId") != w.Acme.ID {
			t.Errorf("superadmin an admin of an organization: %s", r.Body)
		}
		for name, c := range map[string]struct {
			by    string
			input map[string]any
		}{
			"admin an admin":                  {admin, input(actor.Admin)},
			"scoped admin his project":        {scoped, input(actor.Admin, projects)},
			"scoped admin its environment":    {scoped, input(actor.Runner, nil, environments)},
			"single admin his environment":    {single, input(actor.Developer, nil, environments)},
			"admin a project and environment": {admin, input(actor.Developer, []string{other.Project.ID}, environments)},
		} {
			if r := create(t, w, c.by, c.input); r.At(t, "errors") != nil {
				t.Errorf("%s: %s", name, r.Body)
			}
		}
	})
}

func TestARevokedTokenIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		one, other := w.Fixture(t, w.Acme, "one"), w.Fixture(t, w.Acme, "other")
		admin := w.Acme.Tokens[actor.Admin]
		secret, id := made(t, w, admin, map[string]any{"name": "ci", "role": "ADMIN", "scope": map[string]any{"projectIds": []string{one.Project.ID}}})
		const who = "{ viewer { tokenId } }"
		if r := w.GraphQL(t, secret, who, nil); r.Text(t, "data", "viewer", "tokenId") != id {
			t.Fatalf("%s", r.Body)
		}
		revoke := func(by, id string) worldtest.Response { return w.GraphQL(t, by, revokeToken, map[string]any{"id": id}) }
		elsewhere := w.Token(t, w.Acme, account.NewToken{Name: "other", Role: actor.Admin, Scope: &actor.Scope{Projects: []string{other.Project.ID}}})
		for name, c := range map[string]struct {
			by, id string
			code   fault.Code
		}{
			"anonymous":            {"", id, fault.RequestUnauthenticated},
			"developer":            {w.Acme.Tokens[actor.Developer], id, fault.TokenForbidden},
			"another's admin":      {w.Globex.Tokens[actor.Admin], id, fault.TokenNotFound},
			"superadmin of none":   {w.Superadmin, id, fault.RequestOrganizationNeeded},
			"admin of other scope": {elsewhere, id, fault.TokenForbidden},
			"no token":             {admin, "tok_01h455vb4pex5vsknk084sn02q", fault.TokenNotFound},
			"no id":                {admin, "nonsense", fault.TokenNotFound},
		} {
			if r := revoke(c.by, c.id); r.Code(t) != string(c.code) {
				t.Errorf("%s: want %s: %s", name, c.code, r.Body)
			}
		}
		if r := w.GraphQL(t, secret, who, nil); r.Status != 200 {
			t.Errorf("refused revocations took effect: %s", r.Body)
		}
		first := revoke(admin, id).Text(t, "data", "revokeToken", "token", "revokedAt")
		if r := w.GraphQL(t, secret, who, nil); r.Status != 401 || r.Code(t) != string(fault.RequestUnauthenticated) {
			t.Errorf("just revoked: %d %s", r.Status, r.Body)
		}
		if again := revoke(admin, id).Text(t, "data", "revokeToken", "token", "revokedAt"); again != first {
			t.Errorf("revoked at %s, and again at %s", first, again)
		}
		// One's own token may be revoked, and by somebody whose scope has its own.
		own, ownID := made(t, w, admin, map[string]any{"name": "own", "role": "ADMIN", "scope": map[string]any{"environmentIds": []string{one.Environment.ID}}})
		if r := revoke(own, ownID); r.At(t, "errors") != nil {
			t.Errorf("one's own: %s", r.Body)
		}
		if r := w.GraphQL(t, own, who, nil); r.Status != 401 {
			t.Errorf("after one's own revocation: %d %s", r.Status, r.Body)
		}
		wide, _ := made(t, w, admin, map[string]any{"name": "wide", "role": "ADMIN", "scope": map[string]any{"projectIds": []string{one.Project.ID}}})
		_, narrowID := made(t, w, admin, map[string]any{"name": "narrow", "role": "RUNNER", "scope": map[string]any{"environmentIds": []string{one.Environment.ID}}})
		if r := revoke(wide, narrowID); r.At(t, "errors") != nil {
			t.Errorf("a token within the scope: %s", r.Body)
		}
	})
}

func TestTokensAreListedForTheirOwner(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		const list = `query($first: Int, $after: String) { tokens(first: $first, after: $after) { totalCount nodes { name organizationId } pageInfo { hasNextPage endCursor } } }`
		admin := w.Acme.Tokens[actor.Admin]
		for i := range 3 {
			made(t, w, admin, map[string]any{"name": fmt.Sprint("ci-", i), "role": "VIEWER"})
		}
		var names []string
		want := []string{"ci-2", "ci-1", "ci-0"}
		for _, role := range slices.Backward(actor.Roles) {
			if role != actor.Superadmin { // whose tokens are of no organization
				want = append(want, string(role))
			}
		}
		args := map[string]any{"first": 2}
		for more := true; more; {
			r := w.GraphQL(t, admin, list, args)
			nodes, _ := r.At(t, "data", "tokens", "nodes").([]any)
			for _, node := range nodes {
				names = append(names, fmt.Sprint(node.(map[string]any)["name"]))
				if node.(map[string]any)["organizationId"] != w.Acme.ID {
					t.Errorf("%v", node)
				}
			}
			if fmt.Sprint(r.At(t, "data", "tokens", "totalCount")) != fmt.Sprint(len(want)) {
				t.Fatalf("%s", r.Body)
			}
			args["after"] = r.At(t, "data", "tokens", "pageInfo", "endCursor")
			more = r.At(t, "data", "tokens", "pageInfo", "hasNextPage") == true
		}
		if !slices.Equal(names, want) {
			t.Errorf("%v, want %v", names, want)
		}
		if ran := w.Statements(func() { w.GraphQL(t, admin, `{ tokens { nodes { `+tokenFields+` } } }`, nil) }); len(ran) != 1 {
			t.Errorf("%d statements: %q", len(ran), ran)
		}
		r := w.GraphQL(t, w.Superadmin, `{ tokens { nodes { name organizationId } } }`, nil)
		if fmt.Sprint(r.At(t, "data", "tokens", "nodes")) != "[map[name:superadmin organizationId:<nil>]]" {
			t.Errorf("a superadmin's: %s", r.Body)
		}
		for role, token := range map[actor.Role]string{"": "", actor.Viewer: "", actor.Developer: "", actor.Runner: ""} {
			want := fault.RequestUnauthenticated
			if role != "" {
				token, want = w.Acme.Tokens[role], fault.TokenForbidden
			}
			if r := w.GraphQL(t, token, list, nil); r.Code(t) != string(want) {
				t.Errorf("%q: %s", role, r.Body)
			}
		}
	})
}

func TestOrganizationsAreSuperadminsToMakeAndToList(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		const make = `mutation($slug: GivenId!) { createOrganization(input: {name: "Initech", slug: $slug}) { organization { id name slug } } }`
		const list = `{ organizations { totalCount nodes { slug } } }`
		before := w.Rows(t)
		for _, role := range []actor.Role{"", actor.Viewer, actor.Developer, actor.Runner, actor.Admin} {
			token, want := w.Acme.Tokens[role], fault.OrganizationForbidden
			if role == "" {
				want = fault.RequestUnauthenticated
			}
			for _, document := range []string{make, list} {
				variables := map[string]any{"slug": "initech"}
				if document == list {
					variables = nil
				}
				if r := w.GraphQL(t, token, document, variables); r.Code(t) != string(want) {
					t.Errorf("%q: %s", role, r.Body)
				}
			}
		}
		if r := w.In(actor.Global).GraphQL(t, w.Superadmin, make, map[string]any{"slug": "acme"}); r.Code(t) != string(fault.OrganizationSlugTaken) {
			t.Errorf("%s", r.Body)
		}
		if diff := cmp.Diff(before, w.Rows(t)); diff != "" {
			t.Error(diff)
		}
		if r := w.In(actor.Global).GraphQL(t, w.Superadmin, make, map[string]any{"slug": "initech"}); r.Text(t, "data", "createOrganization", "organization", "slug") != "initech" {
			t.Errorf("%s", r.Body)
		}
		r := w.GraphQL(t, w.Superadmin, list, nil)
		if fmt.Sprint(r.At(t, "data", "organizations")) != "map[nodes:[map[slug:initech] map[slug:globex] map[slug:acme]] totalCount:3]" {
			t.Errorf("%s", r.Body)
		}
	})
}
