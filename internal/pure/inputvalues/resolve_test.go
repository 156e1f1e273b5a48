package inputvalues_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/inputvalues"
)

func resolved(t testing.TB, list, values string, env inputvalues.Env) (*inputvalues.Resolved, []string) {
	t.Helper()
	r, violations, err := plain.Resolve(t.Context(), mustDecodeList(t, "["+list+"]"), parse(t, values), "", env)
	if err != nil {
		t.Fatal(err)
	}
	return r, places(violations)
}

func TestEffectiveValues(t *testing.T) {
	t.Parallel()
	zones := `"values":{"source":"zones","params":{"region":{"input":"region"}}}`
	for _, c := range []struct{ list, values, want string }{
		// defaults
		{in("a", "text"), `{}`, `{}`},
		{in("a", "text", `"default":"d"`), `{}`, `{"a":"d"}`},
		{in("a", "text", `"default":"d"`), `{"a":""}`, `{"a":""}`},
		{in("a", "text", `"default":"d"`), `{"a":null}`, `{"a":null}`},
		{in("a", "boolean", `"default":true`) + "," + in("n", "number", `"default":3`) + "," + in("l", "string_array", `"default":["x"]`), `{"n":4}`, `{"a":true,"n":4,"l":["x"]}`},
		{in("o", "object", `"default":{"x":1.50}`), `{}`, `{"o":{"x":1.50}}`},
		{in("a", "text") + "," + in("d", "section"), `{"d":1,"z":2,"a":"x"}`, `{"a":"x"}`},
		// the first of the values
		{in("s", "string", listed, `"default":"$values:first"`), `{}`, `{"s":"a"}`},
		{in("n", "number", `"values":[{"value":7}]`, `"default":"$values:first"`), `{}`, `{"n":7}`},
		{in("c", "compound", sizes, `"default":"$values:first"`), `{}`, `{"c":{"cpu":1,"mem":"2G"}}`},
		{in("zone", "string", zones, `"default":"$values:first"`) + "," + in("region", "text", `"default":"eu"`), `{}`, `{"zone":"eu-1","region":"eu"}`},
		{in("zone", "string", zones, `"default":"$values:first"`) + "," + in("region", "text"), `{}`, `{}`},
		// templates
		{in("s", "string", `"default":"${{ organization.slug }}/${{project.name}} ${{ environment.id }} v${{ module.version }}"`), `{}`, `{"s":"acme/Shop env_1 v1.2.0"}`},
		{in("o", "object", `"default":{"a":["${{ module.type }}",1],"${{ x }}":null}`), `{}`, `{"o":{"a":["web",1],"${{ x }}":null}}`},
		{in("k", "keyvalue", `"default":{"env":"${{ environment.slug }}"}`), `{}`, `{"k":{"env":"prod"}}`},
		{in("s", "string"), `{"s":"${{ project.slug }}"}`, `{"s":"${{ project.slug }}"}`},
		{in("s", "string", `"default":"$${{ github.sha }}-${{ project.slug }}"`), `{}`, `{"s":"${{ github.sha }}-shop"}`},
		{in("s", "string", `"default":"$$${{ x"`), `{}`, `{"s":"$${{ x"}`},
		// collections
		{arrayOf("a", in("n", "number", `"default":1`)+","+in("t", "text", shown(`"n":1`))), `{"a":[{},{"n":2,"t":"x"},{"t":"y","z":0},5]}`, `{"a":[{"n":1},{"n":2},{"n":1,"t":"y"},5]}`},
		{mapOf("m", in("n", "number", `"default":1`), `"default":{"x":{}}`), `{}`, `{"m":{"x":{"n":1}}}`},
		{mapOf("m", in("n", "number", `"default":1`)), `{"m":[]}`, `{"m":[]}`},
		{mapOf("m", arrayOf("a", in("n", "number", `"default":1`))), `{"m":{"x":{"a":[{}]}}}`, `{"m":{"x":{"a":[{"n":1}]}}}`},
		// computed keys
		{mapOf("m", in("p", "string")+","+in("n", "number"), `"key":{"from_fields":["p",null,"n",""]}`), `{"m":{"0":{"p":"tcp","n":80.0},"1":{"n":5},"2":{"p":"udp"}}}`, `{"m":{"tcp-80":{"p":"tcp","n":80.0},"5":{"n":5},"udp":{"p":"udp"}}}`},
		{mapOf("m", in("b", "boolean", `"default":true`)+","+in("p", "string", `"default":"x"`), `"key":{"from_fields":["b","p"],"separator":"."}`), `{"m":{"0":{}}}`, `{"m":{"true.x":{"b":true,"p":"x"}}}`},
		{mapOf("m", in("p", "string"), `"key":{"from_fields":["p"]}`), `{"m":{"0":{"p":"a"},"1":{"p":"a"}}}`, `{"m":{"0":{"p":"a"},"1":{"p":"a"}}}`},
		{mapOf("m", in("p", "string"), `"key":{"from_fields":["p"]}`), `{"m":{"a":{"p":"b"},"b":{}}}`, `{"m":{"a":{"p":"b"},"b":{}}}`},
		{mapOf("m", in("p", "string"), `"key":{"from_fields":[null,""]}`), `{"m":{"a":{"p":"b"}}}`, `{"m":{"a":{"p":"b"}}}`},
		// mapped inputs
		{reference("r", in("c", "text", `"default":"${{ ref.input.cidr }}"`)+","+in("p", "number", `"default":"${{ ref.stack.output.port }}"`)+","+in("l", "string_array", `"default":"${{ ref.stack.output.subnets }}"`)),
			`{"r":"` + instance + `"}`, `{"r":"` + instance + `","c":"10.0.0.0/16","p":8080,"l":["a","b"]}`},
		{reference("r", in("c", "text", `"default":"${{ ref.input.cidr }}"`)+","+in("d", "text", `"default":"d"`)), `{}`, `{"d":"d"}`},
		{reference("r", in("c", "text", `"default":"${{ ref.input.cidr }}"`)+","+in("d", "text", `"default":"d"`)), `{"c":"by hand"}`, `{"c":"by hand","d":"d"}`},
		{reference("r", in("c", "text", `"default":"net ${{ ref.input.cidr }}:${{ ref.stack.output.port }}"`)), `{"r":"` + instance + `"}`, `{"r":"` + instance + `","c":"net 10.0.0.0/16:8080"}`},
		{reference("r", arrayOf("a", in("t", "text", `"default":"${{ ref.input.cidr }}"`), `"default":[{}]`)), `{"r":"` + instance + `"}`, `{"r":"` + instance + `","a":[{"t":"10.0.0.0/16"}]}`},
		{in("on", "boolean", `"default":false`) + "," + reference("r", in("c", "text", `"default":"d"`), shown(`"on":true`)), `{"r":"x"}`, `{"on":false}`},
		{reference("r", in("c", "text")) + "," + in("x", "text", shown(`"c":"h"`)), `{"c":"h","x":"y"}`, `{"c":"h","x":"y"}`},
	} {
		r, violations := resolved(t, c.list, c.values, env)
		if got := string(r.Values.JSON()); got != c.want || len(violations) > 0 {
			t.Errorf("%s %s\ngot  %s %v\nwant %s", c.list, c.values, got, violations, c.want)
		}
	}
}

func TestWhatATemplateCannotGiveIsNamed(t *testing.T) {
	t.Parallel()
	for template, want := range map[string]string{
		"${{ ref.input.nothing }}":         "/c template_unresolved",
		"x${{ ref.stack.output.subnets }}": "/c template_type",
		"x${{ ref.stack.output.none }}":    "/c template_type",
	} {
		_, violations := resolved(t, reference("r", in("c", "text", `"default":"`+template+`"`)), `{"r":"`+instance+`"}`, env)
		if got := strings.Join(violations, "; "); got != want {
			t.Errorf("%s: %s", template, got)
		}
	}
	r, violations := resolved(t, reference("r", in("c", "text", `"default":"${{ ref.input.cidr }}"`)), `{"r":"`+instance+`"}`, inputvalues.Env{})
	if len(violations) > 0 || string(r.Values.JSON()) != `{"r":"`+instance+`"}` {
		t.Error(violations, string(r.Values.JSON()))
	}
}

func TestAFormKnowsWhatToShow(t *testing.T) {
	t.Parallel()
	fold := `"collapsible":true`
	list := in("a", "text", fold) + "," + in("b", "text", fold, shown(`"a":"x"`)) + "," + in("c", "number", fold) + "," +
		in("d", "section") + "," + in("e", "text", fold) + "," + in("f", "text") + "," + in("g", "text") + "," +
		mapOf("m", in("t", "text", fold)+","+in("n", "number"), `"item_title":{"template":"{key}: {{{t}}"}`) + "," +
		arrayOf("l", in("t", "text")+","+in("n", "number"), `"item_title":{"template":"{t} {n}","fallback":"none"}`, `"item_description":"to {n}"`) + "," +
		arrayOf("k", in("t", "text"), `"item_label":"Rule"`) + "," +
		in("z", "string", `"values":{"source":"zones","params":{"kind":"all","at":{"input":"a"},"n":{"input":"c"}}}`)
	r, _ := resolved(t, list, `{"c":2.0,"m":{"x/y":{"t":"v"},"w":{}},"l":[{"t":"v","n":1e1},{"t":""}],"k":[{},7]}`, inputvalues.Env{})
	want := inputvalues.Resolved{
		Values: r.Values,
		Levels: []inputvalues.Level{
			{Pointer: "", Visible: []string{"a", "c", "d", "e", "f", "g", "m", "l", "k", "z"}, Groups: [][]string{{"a", "c"}, {"e"}}},
			{Pointer: "/m/x~1y", Visible: []string{"t", "n"}, Groups: [][]string{{"t"}}},
			{Pointer: "/m/w", Visible: []string{"t", "n"}, Groups: [][]string{{"t"}}},
			{Pointer: "/l/0", Visible: []string{"t", "n"}},
			{Pointer: "/l/1", Visible: []string{"t", "n"}},
			{Pointer: "/k/0", Visible: []string{"t"}},
		},
		Items: []inputvalues.Item{
			{Pointer: "/m/x~1y", Key: "x/y", Title: "x/y: {v}"},
			{Pointer: "/m/w", Key: "w", Title: "w"},
			{Pointer: "/l/0", Title: "v 10", Description: "to 10"},
			{Pointer: "/l/1", Title: "none"},
			{Pointer: "/k/0", Title: "Rule 1"},
		},
		Options: []inputvalues.Wanted{{Pointer: "/z", Source: "zones", Params: map[string]string{"kind": "all", "n": "2"}, Waits: []string{"a"}}},
	}
	if diff := cmp.Diff(want, *r); diff != "" {
		t.Error(diff)
	}
}

func TestAShortListOfItemsDoesNotBecomeAnEndlessOne(t *testing.T) {
	t.Parallel()
	list := arrayOf("a", in("t", "text", `"default":"`+strings.Repeat("x", 10_000)+`"`))
	r, violations := resolved(t, list, `{"a":[{}`+strings.Repeat(",{}", 50_000)+`]}`, inputvalues.Env{})
	if len(violations) != 1 || !strings.HasSuffix(violations[0], " max_size") || len(r.Values.JSON()) > 5<<20 {
		t.Errorf("%d bytes, %.200v", len(r.Values.JSON()), violations)
	}
}

func TestWhatIsNoObjectHasNoValues(t *testing.T) {
	t.Parallel()
	r, violations := resolved(t, in("a", "text", `"default":"d"`), `[]`, env)
	if fmt.Sprint(violations) != "[ type]" || string(r.Values.JSON()) != `{"a":"d"}` {
		t.Error(violations, string(r.Values.JSON()))
	}
}

func TestAFailureOfTheSurroundingsIsNoVerdict(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	failing := inputvalues.Env{
		Ref:     func(context.Context, string, string) (*strictjson.Node, bool, error) { return nil, false, down },
		Options: func(context.Context, string, map[string]string) ([]inputprop.Option, error) { return nil, down },
	}
	for _, list := range []string{
		reference("r", in("c", "text", `"default":"${{ ref.input.cidr }}"`)),
		in("s", "string", `"values":{"source":"x"}`, `"default":"$values:first"`) + "," + in("r", "text"),
	} {
		properties, values := mustDecodeList(t, "["+list+"]"), parse(t, `{"r":"`+instance+`"}`)
		if r, violations, err := plain.Resolve(t.Context(), properties, values, "", failing); !errors.Is(err, down) || r != nil || violations != nil {
			t.Error(r, violations, err)
		}
		if violations, err := plain.Validate(t.Context(), properties, values, "", failing); !errors.Is(err, down) || violations != nil {
			t.Error(violations, err)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := plain.Resolve(gone, nil, nil, "", env); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
