package cli_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/test/worldtest"
)

func TestAPIShowsTheAnswerAsItIs(t *testing.T) {
	t.Parallel()
	const answer = `{"data":{"n":1.10,"big":12345678901234567890,"text":"a\u001b[31mred ` + "\u202e" + `deer"},"extensions":{"cost":{}}}`
	var sent string
	s := answering(t, func(w http.ResponseWriter, r *http.Request) {
		sent = readQuery(t, r)
		_, _ = fmt.Fprint(w, answer)
	})
	h := newHome(t).at(s.URL, "slp_secret")
	for _, format := range []string{"table", "json"} {
		got := h.must(t, "api", "query($id: ID!, $n: Int) { x }", "--var", "id=dep_1", "--var", "n=5", "--var", `s="6"`, "-o", format)
		if want := strings.ReplaceAll(answer, "\u202e", `\u202e`) + "\n"; got != want {
			t.Errorf("%s: %q, want %q", format, got, want)
		}
		if want := `{"query":"query($id: ID!, $n: Int) { x }","variables":{"id":"dep_1","n":5,"s":"6"}}`; sent != want {
			t.Errorf("sent %s, want %s", sent, want)
		}
	}
	want := "data:\n  \"n\": 1.10\n  big: 12345678901234567890\n  text: \"a\\u001b[31mred \\u202edeer\"\nextensions:\n  cost: {}\n"
	if got := h.must(t, "api", "{x}", "-o", "yaml"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	want = "data.n\t1.10\ndata.big\t12345678901234567890\ndata.text\ta\\u{1b}[31mred \\u{202e}deer\nextensions.cost\t{}\n"
	if got := h.must(t, "api", "{x}", "-o", "tsv"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := h.typing("{ from { a } }").must(t, "api", "-f", "-"); got == "" || !strings.Contains(sent, "{ from { a } }") {
		t.Errorf("sent %s", sent)
	}
}

func TestAPIPaginates(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	h := newHome(t).at(w.URL, w.Acme.Tokens[actor.Admin])
	for i := range 5 {
		h.must(t, "projects", "create", fmt.Sprint("p", i))
	}
	got := h.must(t, "api", "query($after: String) { projects(first: 2, after: $after) { nodes { slug } pageInfo { hasNextPage endCursor } } }", "--paginate")
	if strings.Count(got, "\n") != 3 || strings.Count(got, `"slug"`) != 5 {
		t.Errorf("answered %s", got)
	}
	o := h.run(t, "api", "{ projects(first: 2) { pageInfo { hasNextPage endCursor } } }", "--paginate")
	if o.code != 1 || !strings.Contains(o.stderr, "want a query that uses $after") {
		t.Errorf("%+v", o)
	}
	o = h.run(t, "api", "{ projects(first: 2) { nodes { slug } } }", "--paginate")
	if o.code != 2 || !strings.Contains(o.stderr, "want a query with pageInfo") {
		t.Errorf("%+v", o)
	}
}

func TestAPIOfREST(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	one := h.deploy(t, "web:1", nil)
	h.deploy(t, "web:2", nil)
	if got := h.must(t, "api", "GET", "/deployments/"+one); !strings.HasPrefix(got, `{"data":{"id":"`+one+`"`) {
		t.Errorf("answered %s", got)
	}
	if got := h.must(t, "api", "POST", "/deployments/"+one+"/rollback"); !strings.Contains(got, `"rollbackToDeploymentId":"`+one+`"`) {
		t.Errorf("answered %s", got)
	}
	h.must(t, "api", `mutation { createDefaultValueDefinition(input: {givenId: "region", name: "Region", schema: {string: {id: "region", label: "Region"}}}) { defaultValueDefinition { id } } }`)
	made := h.must(t, "api", "{ defaultValueDefinitions { nodes { id } } }", "-o", "tsv")
	_, rest, _ := strings.Cut(made, `"id":"`)
	definition, _, _ := strings.Cut(rest, `"`)
	body := write(t, "body.json", `{"data":{"name":"Regions"}}`)
	if got := h.must(t, "api", "PATCH", "/default-value-definitions/"+definition, "-f", body); !strings.Contains(got, `"name":"Regions"`) {
		t.Errorf("answered %s", got)
	}
	h.mustFail(t, 5, []string{"slipway:Deployment:IN_PROGRESS"}, "api", "POST", "/deployments/"+one+"/rollback")
	h.mustFail(t, 5, []string{"slipway:Request:NOT_FOUND"}, "api", "GET", "/nothing")
	h.mustFail(t, 5, []string{`"code":"slipway:Request:NOT_FOUND"`}, "api", "GET", "/nothing", "-o", "json")
}

func TestAPIShowsWhatThereIsBesideErrors(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	o := h.run(t, "api", `{ viewer { role } project(slug: "nothing") { id } }`)
	if o.code != 5 || !strings.Contains(o.stdout, `"role":"ADMIN"`) || !strings.Contains(o.stderr, "Project:NOT_FOUND") {
		t.Errorf("%+v", o)
	}
}

func TestAPIRefusesWhatMakesNoRequest(t *testing.T) {
	t.Parallel()
	h := newHome(t).at("http://127.0.0.1:1", "slp_secret")
	for says, args := range map[string][]string{
		"want a query or --file, found neither":                                             {},
		"want a query or --file, found both":                                                {"{x}", "-f", "x"},
		"want a query, or one of GET, POST, PATCH before a path":                            {"DELETE", "/x"},
		"want a path that begins with a slash":                                              {"GET", "x"},
		"--var and --paginate: want neither with GET":                                       {"GET", "/x", "--paginate"},
		"--file: want none with GET":                                                        {"GET", "/x", "-f", "x"},
		"--var: want NAME=VALUE":                                                            {"{x}", "--var", "x"},
		"--fields: want none, since the query names the fields":                             {"{x}", "--fields", "x"},
		"--output: want one of table, json, yaml, tsv, name, found":                         {"{x}", "-o", "markdown"},
		`api: want QUERY | -f FILE | GET|POST|PATCH PATH [-f FILE], found "GET", "/x", "y"`: {"GET", "/x", "y"},
	} {
		h.mustFail(t, 2, []string{says}, append([]string{"api"}, args...)...)
	}
	h.mustFail(t, 1, []string{"no such file"}, "api", "-f", "/no/such/file")
}
