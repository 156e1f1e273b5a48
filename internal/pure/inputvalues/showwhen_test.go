package inputvalues_test

import (
	"fmt"
	"slices"
	"testing"

	"slipway/internal/pure/inputvalues"
)

// isShown reports whether an input with that condition on "s", a free-form array, is shown; no value is "".
func isShown(t *testing.T, source, condition string) bool {
	t.Helper()
	list := mustDecodeList(t, "["+in("s", "array")+","+in("x", "section", shown(`"s":`+condition))+"]")
	values := "{}"
	if source != "" {
		values = `{"s":` + source + `}`
	}
	r, _, err := plain.Resolve(t.Context(), list, parse(t, values), "", inputvalues.Env{})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Contains(r.Levels[0].Visible, "x")
}

func TestConditionsHold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		source, condition string
		want              bool
	}{
		// equality without coercion
		{`"a"`, `"a"`, true}, {`"a"`, `"b"`, false}, {`1`, `1.0`, true}, {`1e2`, `100`, true}, {`0`, `-0`, true}, {`1`, `-1`, false},
		{`"1"`, `1`, false}, {`true`, `true`, true}, {`"true"`, `true`, false}, {`1`, `true`, false}, {`false`, `0`, false},
		{`12345678901234567890123`, `12345678901234567890124`, false}, {`""`, `""`, true}, {`0.1`, `1e-1`, true},
		// what is not there
		{``, `"a"`, false}, {`null`, `"a"`, false}, {``, `false`, false}, {`null`, `["a"]`, false}, {``, `[]`, false},
		{``, `{"not":"a"}`, true}, {`null`, `{"not":"a"}`, true}, {``, `{"exists":false}`, true}, {`null`, `{"exists":false}`, true},
		{``, `{"exists":true}`, false}, {`""`, `{"exists":true}`, true}, {`[]`, `{"exists":true}`, true}, {`0`, `{"exists":false}`, false},
		{``, `{"equals":"a"}`, false}, {``, `{"any_of":[]}`, false}, {``, `{"contains_all":[]}`, false}, {``, `{"contains-all":[]}`, false},
		{``, `{"contains":null}`, false}, {``, `{"contains_any":[1]}`, false}, {``, `{"not":{"exists":true}}`, true}, {``, `{"not":{"not":"a"}}`, false},
		// arrays
		{`["x","y"]`, `"x"`, true}, {`["x","y"]`, `"z"`, false}, {`["x","y"]`, `{"not":"x"}`, false}, {`[1.0]`, `1`, true}, {`["1"]`, `1`, false},
		{`["x","y"]`, `["y","x"]`, true}, {`["x"]`, `["y","x"]`, false}, {`["x","y"]`, `["x"]`, true}, {`["x"]`, `[]`, true}, {`"x"`, `["x"]`, false},
		{`["x","y"]`, `{"equals":["x","y"]}`, true}, {`["x","y"]`, `{"equals":["y","x"]}`, false}, {`["x"]`, `{"equals":"x"}`, false},
		{`["x","y"]`, `{"contains":"y"}`, true}, {`["x","y"]`, `{"contains":["y"]}`, false}, {`[["y"]]`, `{"contains":["y"]}`, true},
		{`"xy"`, `{"contains":"x"}`, false}, {`[null]`, `{"contains":null}`, true}, {`[null]`, `[null]`, true},
		{`["x"]`, `{"contains_any":["x","z"]}`, true}, {`["y"]`, `{"contains_any":["x","z"]}`, false}, {`["y"]`, `{"contains_any":[]}`, false}, {`"x"`, `{"contains_any":["x"]}`, false},
		{`["x","y"]`, `{"contains_all":["y","x"]}`, true}, {`["x"]`, `{"contains_all":["y","x"]}`, false}, {`[]`, `{"contains_all":[]}`, true},
		{`["x","y"]`, `{"contains-all":["y"]}`, true}, {`["x"]`, `{"contains-all":["y"]}`, false}, {`"x"`, `{"contains-all":[]}`, false},
		// any_of, not, several
		{`"x"`, `{"any_of":["x","z"]}`, true}, {`"q"`, `{"any_of":["x"]}`, false}, {`"q"`, `{"any_of":[]}`, false}, {`["x"]`, `{"any_of":["x","z"]}`, true},
		{`["x","y"]`, `{"any_of":[["z"],["y","x"]]}`, true}, {`{"a":1}`, `{"any_of":[{"a":1.0}]}`, true},
		{`"b"`, `{"not":{"any_of":["a","b"]}}`, false}, {`"c"`, `{"not":{"any_of":["a","b"]}}`, true}, {`["a"]`, `{"not":["a","b"]}`, true},
		{`"b"`, `{"exists":true,"not":"a"}`, true}, {``, `{"exists":true,"not":"a"}`, false}, {`"a"`, `{"exists":true,"not":"a"}`, false},
		// objects
		{`{"a":1,"b":[2]}`, `{"equals":{"b":[2.0],"a":1}}`, true}, {`{"a":1}`, `{"equals":{"a":1,"b":2}}`, false},
		// not an operator
		{`"a"`, `{"is":"a"}`, false},
	} {
		if got := isShown(t, c.source, c.condition); got != c.want {
			t.Errorf("%s of %q: shown %v", c.condition, c.source, got)
		}
	}
}

func TestAHiddenInputHasNoValueAndFeedsNoCondition(t *testing.T) {
	t.Parallel()
	list := mustDecodeList(t, "["+
		in("last", "text", shown(`"middle":"m"`))+","+
		in("middle", "text", shown(`"first":"f"`), `"default":"m"`)+","+
		in("first", "text", `"default":"f"`)+","+
		in("other", "text", shown(`"middle":{"exists":false}`))+"]")
	for values, want := range map[string]string{
		`{}`:                                    `{"middle":"m","first":"f"} [last middle first]`,
		`{"last":"l"}`:                          `{"last":"l","middle":"m","first":"f"} [last middle first]`,
		`{"first":"g","middle":"m","last":"l"}`: `{"first":"g"} [first other]`,
		`{"first":null,"last":"l","other":"o"}`: `{"first":null,"other":"o"} [first other]`,
		`{"middle":"n","last":"l","other":"o"}`: `{"middle":"n","first":"f"} [middle first]`,
	} {
		r, violations, err := plain.Resolve(t.Context(), list, parse(t, values), "", inputvalues.Env{})
		if err != nil || len(violations) > 0 {
			t.Fatal(violations, err)
		}
		if got := fmt.Sprintf("%s %v", r.Values.JSON(), r.Levels[0].Visible); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", values, got, want)
		}
	}
}
