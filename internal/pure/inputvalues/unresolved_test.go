package inputvalues_test

import (
	"context"
	"strings"
	"testing"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputvalues"
)

// nowhere knows neither an organization, a project nor an environment.
var nowhere = inputvalues.Env{Module: env.Module, Ref: env.Ref, Options: env.Options}

func TestTemplatesOfAPlaceThatIsNotKnownStayAsTheyAre(t *testing.T) {
	t.Parallel()
	const slug = `"default":"${{ project.slug }}"`
	for _, c := range []struct{ list, given, values, unresolved string }{
		{in("a", "text", slug), `{}`, `{"a":"${{ project.slug }}"}`, "/a"},
		{in("a", "text", slug), `{"a":"${{ project.slug }}"}`, `{"a":"${{ project.slug }}"}`, ""},
		{in("a", "text", `"default":"v${{ module.version }}"`), `{}`, `{"a":"v1.2.0"}`, ""},
		{in("a", "text", `"default":"v${{ module.version }} of ${{ organization.name }}"`), `{}`, `{"a":"v${{ module.version }} of ${{ organization.name }}"}`, "/a"},
		{in("a", "string", lower, slug), `{}`, `{"a":"${{ project.slug }}"}`, "/a"},
		{in("a", "string", listed, slug), `{}`, `{"a":"${{ project.slug }}"}`, "/a"},
		{in("g", "gitrepo", `"default":"https://h/${{ environment.slug }}/b"`), `{}`, `{"g":"https://h/${{ environment.slug }}/b"}`, "/g"},
		{in("a", "string_array", lower, `"default":["b","${{ project.slug }}"]`), `{}`, `{"a":["b","${{ project.slug }}"]}`, "/a/1"},
		{in("k", "keyvalue", `"default":{"a/b":"${{ project.slug }}","c":"d"}`), `{}`, `{"k":{"a/b":"${{ project.slug }}","c":"d"}}`, "/k/a~1b"},
		{in("o", "object", `"default":{"x":[1,"${{ project.slug }}"],"y":"${{ module.type }}"}`), `{}`, `{"o":{"x":[1,"${{ project.slug }}"],"y":"web"}}`, "/o/x/1"},
		{arrayOf("l", in("s", "string", lower, slug), `"default":[{},{"s":"b"}]`), `{}`, `{"l":[{"s":"${{ project.slug }}"},{"s":"b"}]}`, "/l/0/s"},
		{arrayOf("l", in("s", "string", lower), `"default":[{"s":"${{ project.slug }}"}]`), `{}`, `{"l":[{"s":"${{ project.slug }}"}]}`, "/l/0/s"},
		{mapOf("m", in("s", "string", lower, slug), `"key":{"from_fields":["s"],`+lower+`}`), `{"m":{"${{ project.slug }}":{}}}`, `{"m":{"${{ project.slug }}":{"s":"${{ project.slug }}"}}}`, "/m/${{ project.slug }}/s"},
		{reference("r", in("c", "string", lower, slug)), `{"r":"` + instance + `"}`, `{"r":"` + instance + `","c":"${{ project.slug }}"}`, "/c"},
		{in("on", "boolean", `"default":false`) + "," + in("a", "text", slug, shown(`"on":true`)), `{}`, `{"on":false}`, ""},
		{in("region", "text", slug) + "," + in("z", "string", `"values":{"source":"zones","params":{"region":{"input":"region"}}}`), `{"z":"any"}`, `{"region":"${{ project.slug }}","z":"any"}`, "/region"},
	} {
		r, wrong := resolved(t, c.list, c.given, nowhere)
		if got := string(r.Values.JSON()); got != c.values || len(wrong) > 0 {
			t.Errorf("%s %s\ngot  %s %v\nwant %s", c.list, c.given, got, wrong, c.values)
		}
		if got := strings.Join(r.Unresolved, " "); got != c.unresolved {
			t.Errorf("%s: resolve leaves %q, want %q", c.list, got, c.unresolved)
		}
		list, locked := mustDecodeList(t, "["+c.list+"]"), parse(t, `{"a":"locked"}`)
		bound := nowhere
		bound.Previous = locked
		v, err := plain.Examine(t.Context(), list, parse(t, c.given), "", bound)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(v.Unresolved, " "); got != c.unresolved || len(v.Violations) > 0 {
			t.Errorf("%s: validate leaves %q, want %q: %v", c.list, got, c.unresolved, v.Violations)
		}
	}
}

func TestWhatPeopleEnterIsJudgedThoughItLooksLikeATemplate(t *testing.T) {
	t.Parallel()
	list := mustDecodeList(t, "["+in("a", "string", lower)+"]")
	v, err := plain.Examine(t.Context(), list, parse(t, `{"a":"${{ project.slug }}"}`), "", nowhere)
	if err != nil || rulesOf(v.Violations) != "pattern" || v.Unresolved != nil {
		t.Error(v, err)
	}
}

func TestATemplateThatNamesNothingIsUnresolvedAtItsPlace(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		in("a", "text", `"default":"${{ project.color }}"`):                            "/a template_unresolved",
		in("o", "object", `"default":{"x":["b","${{ cluster.name }}"]}`):               "/o/x/1 template_unresolved",
		reference("r", in("k", "keyvalue", `"default":{"x":"${{ ref.input.gone }}"}`)): "/k/x template_unresolved",
	} {
		for place, env := range map[string]inputvalues.Env{"known": env, "nowhere": nowhere} {
			r, violations := resolved(t, list, `{"r":"`+instance+`"}`, env)
			if !strings.Contains(list, "$ref") {
				r, violations = resolved(t, list, `{}`, env)
			}
			if got := strings.Join(violations, "; "); got != want || strings.Contains(string(r.Values.JSON()), "{{") {
				t.Errorf("%s, %s: got %s %s, want %s", list, place, got, r.Values.JSON(), want)
			}
		}
	}
}

func TestNumbersThatAReleaseWouldNotKeepAreRefused(t *testing.T) {
	t.Parallel()
	for _, number := range []string{"9007199254740993", "0.1234567890123456789", "1e400", "-123456789012345678901", "5e-325"} {
		for _, c := range []struct{ list, values, pointer string }{
			{in("o", "object"), `{"o":{"a":[1,%]}}`, "/o/a/1"},
			{in("o", "array"), `{"o":[%,{"b":0.5}]}`, "/o/0"},
			{mapOf("m", in("k", "string")+","+in("o", "object"), `"key":{"from_fields":["k"]}`), `{"m":{"x":{"k":"y","o":{"a":%}}}}`, "/m/x/o/a"},
		} {
			values := strings.Replace(c.values, "%", number, 1)
			if got := strings.Join(places(validated(t, c.list, values, "")), " "); got != c.pointer+" number_precision" {
				t.Errorf("%s: %s", values, got)
			}
		}
		list := mustDecodeList(t, "["+in("o", "object", `"default":{"a":`+number+`}`)+"]")
		refused, _, err := rules.CheckList(t.Context(), list, "/inputs")
		if got := strings.Join(places(refused), " "); err != nil || got != "/inputs/0/default/a number_precision" {
			t.Errorf("%s as a default of a version: %s, %v", number, got, err)
		}
		if kept, _, err := rules.Check(t.Context(), list[0], ""); err != nil || len(kept) > 0 {
			t.Errorf("%s as a default that is not released: %v, %v", number, kept, err)
		}
	}
	for _, number := range []string{"9007199254740992", "0.1", "1e21", "-0", "100000000000000000000", "5e-324", "1.50"} {
		if got := validated(t, in("o", "array"), `{"o":[`+number+`]}`, ""); len(got) > 0 {
			t.Errorf("%s: %v", number, got)
		}
	}
}

func TestAValueOfAnInstanceIsNotNestedDeeperThanValuesMayBe(t *testing.T) {
	t.Parallel()
	const list = `{"id":"r","label":"R","type":"$ref:net","mapped_inputs":[{"id":"o","label":"O","type":"object","default":{"x":"${{ ref.input.deep }}"}}]}`
	for depth, want := range map[int]string{62: "", 63: "/o/x max_depth"} {
		deep := parse(t, strings.Repeat("[", depth)+strings.Repeat("]", depth))
		there := inputvalues.Env{Ref: func(_ context.Context, _, _ string) (*strictjson.Node, bool, error) { return deep, true, nil }}
		r, violations := resolved(t, list, `{"r":"`+instance+`"}`, there)
		if got := strings.Join(violations, " "); got != want {
			t.Errorf("%d levels: got %q, want %q", depth, got, want)
		}
		if _, err := strictjson.Parse(r.Values.JSON()); err != nil {
			t.Errorf("%d levels: %v", depth, err)
		}
	}
}
