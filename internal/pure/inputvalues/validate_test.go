package inputvalues_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"slipway/internal/base/fault"
	"slipway/internal/pure/inputvalues"
)

func validated(t testing.TB, list, values, previous string) []fault.Violation {
	t.Helper()
	c := env
	if previous != "" {
		c.Previous = parse(t, previous)
	}
	violations, err := plain.Validate(t.Context(), mustDecodeList(t, "["+list+"]"), parse(t, values), "", c)
	if err != nil {
		t.Fatal(err)
	}
	return violations
}

func TestEveryRuleOfValuesRefusesAndAllows(t *testing.T) {
	t.Parallel()
	const must = `"required":true`
	long := strings.Repeat("é", 10_001)
	zones := `"values":{"source":"zones","params":{"region":{"input":"region"}}}`
	for _, c := range []struct{ list, values, want string }{
		{in("a", "text"), `{"a":"x"}`, ""},
		{in("a", "text"), `[]`, " type"},
		{in("a", "text"), `{"b":1,"A":2}`, "/b unknown_input; /A unknown_input"},
		{in("d", "section"), `{"d":1}`, "/d unknown_input"},
		// required
		{in("a", "string", must), `{}`, "/a required"},
		{in("a", "string", must), `{"a":""}`, "/a required"},
		{in("a", "string", must), `{"a":null}`, "/a required"},
		{in("a", "string", must, `"default":"d"`), `{}`, ""},
		{in("a", "string", must, `"default":"d"`), `{"a":""}`, "/a required"},
		{in("a", "number", must), `{"a":0}`, ""},
		{in("a", "object", must), `{"a":{}}`, ""},
		{in("a", "array", must), `{"a":[]}`, ""},
		{in("a", "keyvalue", must), `{"a":{}}`, "/a required"},
		{in("a", "string_array", must), `{"a":[]}`, "/a required"},
		{mapOf("a", in("t", "text"), must), `{"a":{}}`, "/a required"},
		{arrayOf("a", in("t", "text"), must), `{"a":[]}`, "/a required"},
		{arrayOf("a", in("t", "text", must), must), `{"a":[{}]}`, "/a/0/t required"},
		{in("c", "compound", sizes, must), `{}`, "/c required"},
		{in("g", "gitrepo", must), `{"g":""}`, "/g required"},
		{in("b", "boolean", `"default":true`), `{"b":null}`, "/b type"},
		{in("a", "text"), `{"a":null}`, ""},
		// hidden
		{in("a", "text") + "," + in("n", "number", must, shown(`"a":"x"`)), `{"n":"wrong"}`, ""},
		{in("a", "text") + "," + in("n", "number", must, shown(`"a":"x"`)), `{"a":"x","n":"wrong"}`, "/n type"},
		{in("a", "text") + "," + in("n", "number", must, shown(`"a":"x"`)), `{"a":"x"}`, "/n required"},
		// types
		{in("a", "string"), `{"a":1}`, "/a type"},
		{in("a", "text"), `{"a":["x"]}`, "/a type"},
		{in("a", "object"), `{"a":[]}`, "/a type"},
		{in("a", "object"), `{"a":{"x":[1,null]}}`, ""},
		{in("a", "array"), `{"a":{}}`, "/a type"},
		{in("a", "string_array"), `{"a":["x",1,null]}`, "/a/1 type; /a/2 type"},
		{in("a", "string_array"), `{"a":"x"}`, "/a type"},
		{in("a", "number"), `{"a":"1"}`, "/a type"},
		{in("a", "number"), `{"a":1.5}`, "/a int32"},
		{in("a", "number"), `{"a":2147483648}`, "/a int32"},
		{in("a", "number"), `{"a":1e3}`, ""},
		{in("a", "boolean", `"default":true`), `{"a":"true"}`, "/a type"},
		{in("a", "keyvalue"), `{"a":{"x":"y","n":1,"":"z"}}`, "/a/n type; /a/ key_empty"},
		{in("a", "keyvalue"), `{"a":[]}`, "/a type"},
		{mapOf("a", in("t", "text")), `{"a":[]}`, "/a type"},
		{arrayOf("a", in("t", "text")), `{"a":{"x":{}}}`, "/a type"},
		{arrayOf("a", in("t", "text")), `{"a":[{},null,{"u":1}]}`, "/a/1 type; /a/2/u unknown_input"},
		// lengths
		{in("a", "text"), `{"a":"` + long[2:] + `"}`, ""},
		{in("a", "text"), `{"a":"` + long + `"}`, "/a max_length"},
		{in("a", "object"), `{"a":{"b":["` + long + `"]}}`, "/a/b/0 max_length"},
		{in("a", "keyvalue"), `{"a":{"b":"` + long + `"}}`, "/a/b max_length"},
		// values
		{in("a", "string", listed), `{"a":"b"}`, ""},
		{in("a", "string", listed), `{"a":"c"}`, "/a not_in_values"},
		{in("a", "string", listed), `{"a":""}`, "/a not_in_values"},
		{in("a", "string", `"values":["a",""]`), `{"a":""}`, ""},
		{in("a", "string", `"values":["a",""]`, must), `{"a":""}`, "/a required"},
		{in("a", "string_array", listed), `{"a":["a","c"]}`, "/a/1 not_in_values"},
		{in("a", "string_array", listed), `{"a":[""]}`, "/a/0 not_in_values"},
		{in("a", "number", `"values":[1,2]`), `{"a":2.0}`, ""},
		{in("a", "number", `"values":[1,2]`), `{"a":3}`, "/a not_in_values"},
		{in("c", "compound", sizes), `{"c":{"mem":"8G","cpu":4.0}}`, ""},
		{in("c", "compound", sizes), `{"c":{"mem":"8G","cpu":1}}`, "/c not_in_values"},
		{in("c", "compound", sizes), `{"c":{"cpu":1.5,"mem":[],"arm":true}}`, "/c/cpu int32; /c/mem type; /c/arm unknown_field"},
		{in("c", "compound", sizes), `{"c":{"cpu":1}}`, "/c/mem required"},
		{in("c", "compound", sizes), `{"c":"S"}`, "/c type"},
		{in("region", "text") + "," + in("z", "string", zones), `{"region":"eu","z":"eu-2"}`, ""},
		{in("region", "text") + "," + in("z", "string", zones), `{"region":"eu","z":"us-2"}`, "/z not_in_values"},
		{in("region", "text") + "," + in("z", "string", zones), `{"z":"us-2"}`, ""},
		// patterns, bounds
		{in("a", "string", lower), `{"a":"b"}`, ""},
		{in("a", "string", lower), `{"a":"B"}`, "/a pattern"},
		{in("a", "string", lower), `{"a":""}`, ""},
		{in("a", "text", lower), `{"a":"B"}`, "/a pattern"},
		{in("a", "string_array", lower), `{"a":["b","B"]}`, "/a/1 pattern"},
		{in("a", "text", `"patterns":[{"pattern":"(","message":"m"}]`), `{"a":"B"}`, "/a pattern_syntax"},
		{in("a", "text", `"patterns":[{"pattern":"slow","message":"m"}]`), `{"a":"B"}`, "/a pattern_too_slow"},
		{in("a", "number", `"min":1,"max":3`), `{"a":3}`, ""},
		{in("a", "number", `"min":1,"max":3`), `{"a":0}`, "/a min"},
		{in("a", "number", `"min":1,"max":3`), `{"a":4}`, "/a max"},
		// keys
		{mapOf("m", in("t", "text"), `"key":{`+lower+`}`), `{"m":{"a":{},"B":{},"":{}}}`, "/m/B pattern; /m/ key_empty"},
		{mapOf("m", in("t", "string"), `"key":{"from_fields":["t"],`+lower+`}`), `{"m":{"B":{"t":"b"},"1":{"t":"C"},"2":{"t":"b"},"3":{}}}`, "/m/1 pattern; /m/2 key_unique; /m/3 key_empty"},
		{mapOf("m", in("t", "string"), `"key":{"from_fields":[null,""]}`), `{"m":{"a":{},"b":{}}}`, ""},
		// references, repositories
		{in("r", "$ref:net"), `{"r":"` + instance + `"}`, ""},
		{in("r", "$ref:net"), `{"r":"dep_01h455vb4pex5vsknk084sn02q"}`, "/r format"},
		{in("r", "$ref:net"), `{"r":"inst_01h455vb4pex5vsknk084sn02"}`, "/r format"},
		{in("r", "$ref:net"), `{"r":5}`, "/r type"},
		{in("g", "gitrepo"), `{"g":"git@host:owner/repo"}`, ""},
		{in("g", "gitrepo"), `{"g":"http://host/owner/repo"}`, "/g format"},
		{in("g", "gitrepo"), `{"g":"https://host/${{ project.slug }}/repo?x"}`, "/g format"},
		{in("g", "gitrepo", `"default":"https://host/${{ project.slug }}/repo"`), `{}`, ""},
		{in("g", "gitrepo", `"default":"https://host/${{ project.name }} x/repo"`), `{}`, "/g format"},
		{in("s", "string", `"default":"${{ project.name }}"`, lower), `{}`, "/s pattern"},
		// mapped inputs
		{reference("r", in("c", "text", `"default":"${{ ref.input.cidr }}"`, must)), `{"r":"` + instance + `"}`, ""},
		{reference("r", in("c", "text", `"default":"${{ ref.input.cidr }}"`, must)), `{"r":"` + instance + `","c":"10.0.0.0/16"}`, ""},
		{reference("r", in("c", "text", `"default":"${{ ref.input.cidr }}"`, must)), `{"r":"` + instance + `","c":"1"}`, "/c mapped_input"},
		{reference("r", in("c", "text", must)), `{"r":"` + instance + `"}`, ""},
		{reference("r", in("c", "text")), `{"r":"` + instance + `","c":"1"}`, "/c mapped_input"},
		{reference("r", in("c", "text", `"default":"${{ ref.input.cidr }}"`, must)), `{}`, "/c required"},
		{reference("r", in("c", "text", `"default":"${{ ref.input.cidr }}"`, must)), `{"c":"by hand"}`, ""},
		{reference("r", in("p", "number", `"default":"${{ ref.input.cidr }}"`)), `{"r":"` + instance + `"}`, "/p type"},
		{reference("r", in("p", "number", `"default":"${{ ref.stack.output.port }}"`, `"max":80`)), `{"r":"` + instance + `"}`, "/p max"},
		{reference("r", in("p", "text", `"default":"${{ ref.stack.output.lost }}"`, must)), `{"r":"` + instance + `"}`, "/p template_unresolved"},
	} {
		if got := strings.Join(places(validated(t, c.list, c.values, "")), "; "); got != c.want {
			t.Errorf("%s %.200s\ngot  %s\nwant %s", c.list, c.values, got, c.want)
		}
	}
}

func TestWhatWasDeployedBinds(t *testing.T) {
	t.Parallel()
	const locked, keep = `"immutable":true`, `"min_current_value":true`
	disk := in("id", "string", locked) + "," + in("size", "number", locked)
	for _, c := range []struct{ list, values, previous, want string }{
		{in("a", "text", locked), `{"a":"y"}`, ``, ""},
		{in("a", "text", locked), `{"a":"y"}`, `{}`, ""},
		{in("a", "text", locked), `{"a":"y"}`, `{"a":null}`, ""},
		{in("a", "text", locked), `{"a":"x"}`, `{"a":"x"}`, ""},
		{in("a", "text", locked), `{"a":"y"}`, `{"a":"x"}`, "/a immutable"},
		{in("a", "text", locked), `{}`, `{"a":"x"}`, ""},
		{in("a", "text", locked), `{"a":null}`, `{"a":"x"}`, "/a immutable"},
		{in("a", "text", locked), `{"a":"y"}`, `{"a":""}`, "/a immutable"},
		{in("a", "text"), `{"a":"y"}`, `{"a":"x"}`, ""},
		{in("a", "number", locked), `{"a":1.0}`, `{"a":1}`, ""},
		{in("a", "object", locked), `{"a":{"x":1,"y":2}}`, `{"a":{"y":2.0,"x":1}}`, ""},
		{in("a", "text", locked, `"default":"new"`), `{}`, `{"a":"old"}`, ""},
		{in("a", "text", locked, `"default":"new"`), `{"a":"new"}`, `{"a":"old"}`, "/a immutable"},
		{in("s", "text") + "," + in("a", "text", locked, shown(`"s":"x"`)), `{}`, `{"a":"old"}`, ""},
		{arrayOf("l", in("a", "text", locked)), `{"l":[{"a":"x"},{"a":"new"}]}`, `{"l":[{"a":"x"}]}`, ""},
		{arrayOf("l", in("a", "text", locked)), `{"l":[{"a":"y"}]}`, `{"l":[{"a":"x"}]}`, ""},
		{arrayOf("l", in("a", "text", locked)), `{"l":[{"a":"y"},{"a":"y"}]}`, `{"l":[{"a":"x"}]}`, "/l/0/a immutable"},
		{arrayOf("l", disk), `{"l":[{"id":"b","size":2},{"id":"c","size":9},{"id":"a","size":3}]}`, `{"l":[{"id":"a","size":1},{"id":"b","size":2}]}`, "/l/2/size immutable"},
		{arrayOf("l", disk), `{"l":[{"id":"a","size":2},{"id":"a","size":2}]}`, `{"l":[{"id":"a","size":1},{"id":"b","size":1}]}`, "/l/0/size immutable; /l/1/id immutable; /l/1/size immutable"},
		{mapOf("m", in("a", "text", locked)), `{"m":{"n":{"a":"new"},"k":{"a":"y"}}}`, `{"m":{"k":{"a":"x"},"gone":{"a":"z"}}}`, "/m/k/a immutable"},
		{mapOf("m", in("k", "string")+","+in("a", "text", locked), `"key":{"from_fields":["k"]}`), `{"m":{"0":{"k":"b","a":"y"}}}`, `{"m":{"b":{"k":"b","a":"x"}}}`, "/m/0/a immutable"},
		{in("n", "number", keep), `{"n":3}`, `{"n":3}`, ""},
		{in("n", "number", keep), `{"n":2}`, `{"n":3}`, "/n min_current_value"},
		{in("n", "number", keep), `{"n":2}`, ``, ""},
		{in("n", "number"), `{"n":2}`, `{"n":3}`, ""},
		{in("n", "number", keep, `"values":[5,3,1]`), `{"n":5}`, `{"n":3}`, ""},
		{in("s", "string", keep, listed), `{"s":"b"}`, `{"s":"a"}`, ""},
		{in("s", "string", keep, listed), `{"s":"a"}`, `{"s":"b"}`, "/s min_current_value"},
		{in("s", "string", keep, listed), `{"s":"a"}`, `{"s":"gone"}`, ""},
		{in("s", "string", keep), `{"s":"a"}`, `{"s":"b"}`, ""},
		{in("c", "compound", keep, sizes), `{"c":{"cpu":1,"mem":"2G"}}`, `{"c":{"cpu":4,"mem":"8G"}}`, "/c min_current_value"},
		{in("z", "string", keep, `"values":{"source":"zones","params":{"region":"eu"}}`), `{"z":"eu-1"}`, `{"z":"eu-2"}`, "/z min_current_value"},
	} {
		if got := strings.Join(places(validated(t, c.list, c.values, c.previous)), "; "); got != c.want {
			t.Errorf("%s %s after %s\ngot  %s\nwant %s", c.list, c.values, c.previous, got, c.want)
		}
	}
}

func TestMessagesOfValuesSayWhatIsAllowedAndWhatWasFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ list, values, previous, want string }{
		{in("size", "text"), `{"sise":1}`, ``, `is not the id of an input that has a value, did you mean "size"`},
		{in("n", "number", `"min":3`), `{"n":2}`, ``, `must be at least 3, found 2`},
		{in("a", "text", `"immutable":true`), `{"a":null}`, `{"a":"x"}`, `must stay as it was first deployed, "x", found null`},
		{in("n", "number", `"min_current_value":true`), `{"n":1}`, `{"n":2}`, `must not be less than the current 2, found 1`},
		{in("s", "string", `"min_current_value":true`, listed), `{"s":"a"}`, `{"s":"b"}`, `must not stand before the current "b" among the values, found "a"`},
		{in("g", "gitrepo"), `{"g":"x"}`, ``, `must be a repository URL such as https://host/owner/repo, ssh://git@host/owner/repo or git@host:owner/repo, found "x": it has no host`},
		{mapOf("m", in("p", "string")+","+in("q", "string"), `"key":{"from_fields":["p","q"]}`), `{"m":{"0":{}}}`, ``, `must have a value for one of p, q, of which its key is made`},
		{reference("r", in("c", "text")), `{"r":"` + instance + `","c":"x"}`, ``, `must be left out, for it comes from the chosen instance "` + instance + `"`},
	} {
		violations := validated(t, c.list, c.values, c.previous)
		if len(violations) != 1 || violations[0].Message != c.want {
			t.Errorf("%s %s\ngot  %v\nwant %s", c.list, c.values, violations, c.want)
		}
	}
}

func TestPointersOfValuesStartWhereTheCallerSays(t *testing.T) {
	t.Parallel()
	list := mustDecodeList(t, "["+in("a/b", "text", `"required":true`)+"]")
	violations, err := plain.Validate(t.Context(), list, nil, "/inputs", inputvalues.Env{})
	if got := strings.Join(places(violations), "; "); err != nil || got != "/inputs/a~1b required" {
		t.Error(got, err)
	}
}

func TestAPatternThatCannotBeRunIsNoVerdictOnValues(t *testing.T) {
	t.Parallel()
	list := mustDecodeList(t, "["+in("a", "text", `"patterns":[{"pattern":"busy","message":"m"}]`)+"]")
	if violations, err := plain.Validate(t.Context(), list, parse(t, `{"a":"x"}`), "", inputvalues.Env{}); !errors.Is(err, errBusy) || violations != nil {
		t.Error(violations, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := plain.Validate(gone, list, nil, "", inputvalues.Env{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
