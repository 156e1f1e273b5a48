package inputvalues_test

import (
	"strings"
	"testing"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputvalues"
)

// succeeded returns what immutable inputs are compared with after successes, each as inputs and values, and the values
// of the last.
func succeeded(t *testing.T, successes ...[2]string) (baseline, live *strictjson.Node) {
	t.Helper()
	for _, s := range successes {
		live = parse(t, s[1])
		baseline = inputvalues.Baseline(mustDecodeList(t, "["+s[0]+"]"), live, baseline)
	}
	return baseline, live
}

func TestImmutableInputsAreComparedWithTheLastSuccessThatHadThem(t *testing.T) {
	t.Parallel()
	const locked = `"immutable":true`
	name := in("on", "boolean", `"default":false`) + "," + in("a", "text", locked, shown(`"on":true`))
	free := in("on", "boolean", `"default":false`) + "," + in("a", "text", shown(`"on":true`))
	services := mapOf("m", in("on", "boolean", `"default":true`)+","+in("port", "number", locked, `"default":80`, shown(`"on":true`)))
	hiding := in("on", "boolean", `"default":true`) + "," + mapOf("m", in("port", "number", locked), shown(`"on":true`))
	computed := mapOf("m", in("id", "string", locked)+","+in("port", "number", locked), `"key":{"from_fields":["id"]}`)
	disks := arrayOf("l", in("id", "string", locked)+","+in("on", "boolean", `"default":true`)+","+in("size", "number", locked, shown(`"on":true`)))
	for what, c := range map[string]struct {
		list      string
		successes []string
		values    string
		// want are the violations, or the values that count if there are none.
		want string
	}{
		"hidden, back as it was":           {name, []string{`{"on":true,"a":"x"}`, `{"on":false}`}, `{"on":true,"a":"x"}`, `{"on":true,"a":"x"}`},
		"hidden, back changed":             {name, []string{`{"on":true,"a":"x"}`, `{"on":false}`, `{"on":false}`}, `{"on":true,"a":"y"}`, "/a immutable"},
		"hidden, back and left out":        {name, []string{`{"on":true,"a":"x"}`, `{"on":false}`}, `{"on":true}`, `{"on":true,"a":"x"}`},
		"hidden now":                       {name, []string{`{"on":true,"a":"x"}`}, `{"on":false}`, `{"on":false}`},
		"never had":                        {name, []string{`{"on":false}`, `{"on":true}`}, `{"on":true,"a":"y"}`, `{"on":true,"a":"y"}`},
		"item that stays, changed":         {services, []string{`{"m":{"a":{"on":true,"port":1}}}`}, `{"m":{"a":{"port":2}}}`, "/m/a/port immutable"},
		"item removed":                     {services, []string{`{"m":{"a":{"on":true,"port":1}}}`}, `{"m":{}}`, `{"m":{}}`},
		"item removed, and back":           {services, []string{`{"m":{"a":{"on":true,"port":1}}}`, `{"m":{}}`}, `{"m":{"a":{"port":2}}}`, `{"m":{"a":{"on":true,"port":2}}}`},
		"map left out, item back":          {services, []string{`{"m":{"a":{"on":true,"port":1}}}`, `{}`}, `{"m":{"a":{"port":2}}}`, `{"m":{"a":{"on":true,"port":2}}}`},
		"another item":                     {services, []string{`{"m":{"a":{"on":true,"port":1}}}`}, `{"m":{"b":{}}}`, `{"m":{"b":{"on":true,"port":80}}}`},
		"item left out its input":          {services, []string{`{"m":{"a":{"on":true,"port":1}}}`}, `{"m":{"a":{}}}`, `{"m":{"a":{"on":true,"port":1}}}`},
		"hidden in an item, back changed":  {services, []string{`{"m":{"a":{"on":true,"port":1}}}`, `{"m":{"a":{"on":false}}}`}, `{"m":{"a":{"port":2}}}`, "/m/a/port immutable"},
		"map hidden, item back changed":    {hiding, []string{`{"on":true,"m":{"a":{"port":1}}}`, `{"on":false}`}, `{"m":{"a":{"port":2}}}`, "/m/a/port immutable"},
		"computed key, changed":            {computed, []string{`{"m":{"a":{"id":"a","port":1}}}`}, `{"m":{"0":{"id":"a","port":2}}}`, "/m/0/port immutable"},
		"computed key, renamed":            {computed, []string{`{"m":{"a":{"id":"a","port":1}}}`}, `{"m":{"a":{"id":"b","port":2}}}`, `{"m":{"b":{"id":"b","port":2}}}`},
		"computed key, left out":           {computed, []string{`{"m":{"a":{"id":"a","port":1}}}`}, `{"m":{"a":{}}}`, `{"m":{"a":{"id":"a","port":1}}}`},
		"list, reordered":                  {disks, []string{`{"l":[{"id":"a","on":true,"size":1},{"id":"b","on":true,"size":2}]}`}, `{"l":[{"id":"b"},{"id":"a","size":1}]}`, `{"l":[{"id":"b","on":true,"size":2},{"id":"a","on":true,"size":1}]}`},
		"list, the first removed":          {disks, []string{`{"l":[{"id":"a","on":true,"size":1},{"id":"b","on":true,"size":2}]}`}, `{"l":[{"id":"b","size":1}]}`, "/l/0/size immutable"},
		"list, hidden in an item, changed": {disks, []string{`{"l":[{"id":"a","on":true,"size":1},{"id":"b","on":true,"size":2}]}`, `{"l":[{"id":"b","on":false},{"id":"c","on":false}]}`}, `{"l":[{"id":"c","size":7},{"id":"b","size":1}]}`, "/l/1/size immutable"},
	} {
		var successes [][2]string
		for _, values := range c.successes {
			successes = append(successes, [2]string{c.list, values})
		}
		binds(t, what, c.list, c.values, c.want, successes...)
	}
	binds(t, "immutable since this version", name, `{"on":true,"a":"y"}`, "/a immutable", [2]string{free, `{"on":true,"a":"x"}`})
	binds(t, "changed while it could be", name, `{"on":true,"a":"z"}`, "/a immutable",
		[2]string{name, `{"on":true,"a":"x"}`}, [2]string{free, `{"on":true,"a":"y"}`}, [2]string{name, `{"on":false}`})
	binds(t, "kept as it was changed", name, `{"on":true,"a":"y"}`, `{"on":true,"a":"y"}`,
		[2]string{name, `{"on":true,"a":"x"}`}, [2]string{free, `{"on":true,"a":"y"}`}, [2]string{name, `{"on":false}`})
	binds(t, "left out by a version", name, `{"on":true,"a":"y"}`, "/a immutable", [2]string{name, `{"on":true,"a":"x"}`}, [2]string{in("on", "boolean", `"default":false`), `{"on":true}`})
	template := in("a", "text", locked, `"default":"${{ environment.name }}"`)
	binds(t, "a default that is rendered otherwise now", template, `{}`, `{"a":"Staging"}`, [2]string{template, `{"a":"Staging"}`})
	items := mapOf("m", in("port", "number", locked), `"default":{"a":{"port":80}}`)
	binds(t, "a default of a map", items, `{}`, `{"m":{"a":{"port":90}}}`, [2]string{items, `{"m":{"a":{"port":90}}}`})
	mapped := reference("r", in("c", "text", locked, `"default":"${{ ref.input.cidr }}"`))
	binds(t, "of the same instance", mapped, `{"r":"`+instance+`"}`, `{"r":"`+instance+`","c":"10.1.0.0/16"}`, [2]string{mapped, `{"r":"` + instance + `","c":"10.1.0.0/16"}`})
	binds(t, "of another instance", mapped, `{"r":"`+instance+`"}`, "/c immutable", [2]string{mapped, `{"r":"inst_01h455vb4pex5vsknk084sn02r","c":"10.1.0.0/16"}`})
}

// binds judges values after successes.
func binds(t *testing.T, what, list, values, want string, successes ...[2]string) {
	t.Helper()
	bindsIn(t, env, what, list, values, want, successes...)
}

func bindsIn(t *testing.T, bound inputvalues.Env, what, list, values, want string, successes ...[2]string) {
	t.Helper()
	baseline, live := succeeded(t, successes...)
	bound.Previous = inputvalues.Overlay(live, baseline)
	violations, err := plain.Validate(t.Context(), mustDecodeList(t, "["+list+"]"), parse(t, values), "", bound)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(places(violations), "; ")
	if got == "" {
		r, wrong := resolved(t, list, values, bound)
		if got = string(r.Values.JSON()); len(wrong) > 0 {
			t.Errorf("%s: %v", what, wrong)
		}
	}
	if got != want {
		t.Errorf("%s: %s after %v\ngot  %s\nwant %s", what, values, successes, got, want)
	}
}
