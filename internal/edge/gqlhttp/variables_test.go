package gqlhttp_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/fault"
	"slipway/internal/edge/gqlhttp"
)

// echo declares a variable of the type and gives it to the argument of echo.
func echo(argument, typ string) string {
	return fmt.Sprintf("query($v: %s) { echo(%s: $v) }", typ, argument)
}

func TestAVariableReachesTheResolverAsItsType(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ argument, typ, given, want string }{
		{"int", "Int", `7`, `7`}, {"int", "Int", `-2147483648`, `-2147483648`}, {"int", "Int", `2147483647`, `2147483647`},
		{"int", "Int", `1.0`, `1`}, {"int", "Int", `1e3`, `1000`}, {"int", "Int", `-0`, `0`}, {"int", "Int", `null`, `null`},
		{"float", "Float", `1`, `1`}, {"float", "Float", `1.5`, `1.5`}, {"float", "Float", `1e300`, `1e+300`},
		{"text", "String", `"x"`, `"x"`}, {"flag", "Boolean", `true`, `true`},
		{"id", "ID", `"x"`, `"x"`}, {"id", "ID", `123456789012345678901234567890`, `"123456789012345678901234567890"`},
		{"color", "Color", `"RED"`, `"RED"`},
		{"ints", "[Int!]", `[1, 2.0]`, `[1,2]`}, {"ints", "[Int!]", `5`, `[5]`}, {"ints", "[Int!]", `[]`, `[]`}, {"ints", "[Int!]", `null`, `null`},
		{"grid", "[[Int]]", `[[1],null,[null]]`, `[[1],null,[null]]`}, {"grid", "[[Int]]", `3`, `[[3]]`},
		{"item", "Item", `{"name":"a","tags":"t","more":[{"name":"b","count":null}]}`, `{"more":[{"count":null,"name":"b"}],"name":"a","tags":["t"]}`},
		{"pick", "Pick", `{"text":"x"}`, `{"text":"x"}`}, {"pick", "Pick", `{"item":{"name":"x"}}`, `{"item":{"name":"x"}}`},
	} {
		a := newServer(gqlhttp.Config{}).run(t, echo(c.argument, c.typ), `{"v":`+c.given+`,"undeclared":1}`)
		var data struct{ Echo map[string]json.RawMessage }
		if err := json.Unmarshal(a.Data, &data); err != nil {
			t.Errorf("%s of %s: %s", c.given, c.typ, a.Body)
			continue
		}
		if got := string(data.Echo[c.argument]); got != c.want {
			t.Errorf("%s of %s: %s, want %s", c.given, c.typ, got, c.want)
		}
	}
}

func TestAWrongVariableIsReportedWithItsPath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ argument, typ, given, path, message string }{
		{"int", "Int", `"123"`, "v", "must be Int, a whole number from -2147483648 to 2147483647, found a string"},
		{"int", "Int", `1.5`, "v", "found the number 1.5"}, {"int", "Int", `2147483648`, "v", "found the number 2147483648"},
		{"int", "Int", `1e400`, "v", "found the number 1e400"}, {"int", "Int", `true`, "v", "found true"},
		{"int", "Int!", `null`, "v", "must be Int!, found null"},
		{"float", "Float", `"1.5"`, "v", "found a string"}, {"float", "Float", `1e400`, "v", "64 bits"},
		{"text", "String", `5`, "v", "must be a String, found the number 5"}, {"text", "String", `{}`, "v", "found an object"},
		{"flag", "Boolean", `"true"`, "v", "must be a Boolean"}, {"flag", "Boolean", `1`, "v", "must be a Boolean"},
		{"id", "ID", `1.5`, "v", "must be an ID, a string or a whole number"}, {"id", "ID", `1.0`, "v", "must be an ID"}, {"id", "ID", `[]`, "v", "found a list"},
		{"color", "Color", `"red"`, "v", `must be a value of Color, found "red"; the values are RED, GREEN`}, {"color", "Color", `0`, "v", "found the number 0"},
		{"ints", "[Int!]", `[1,null]`, "v 1", "must be Int!, found null"}, {"grid", "[[Int]]", `[[1],["x"]]`, "v 1 0", "$v[1][0]"},
		{"item", "Item", `"x"`, "v", "must be an object of Item, found a string"},
		{"item", "Item", `{}`, "v name", "must be given, as String!"},
		{"item", "Item", `{"name":"a","nmae":1}`, "v nmae", "is not a field of Item; the fields are name, count, color, tags, more, size"},
		{"item", "Item", `{"name":"a","more":[{"name":"b"},{"name":"c","count":"2"}]}`, "v more 1 count", `"$v.more[1].count"`},
		{"item", "Item", `{"name":"a","size":null}`, "v size", "must be Int!, found null"},
		{"pick", "Pick", `{}`, "v", "must have exactly one field of Pick, found 0"},
		{"pick", "Pick", `{"text":"x","number":1}`, "v", "must have exactly one field of Pick, found 2"},
		{"pick", "Pick", `{"text":"x","number":null}`, "v", "found 2"}, {"pick", "Pick", `{"text":null}`, "v text", "must not be null"},
	} {
		a := newServer(gqlhttp.Config{Introspection: true}).run(t, echo(c.argument, c.typ), `{"v":`+c.given+`}`)
		if a.code() != string(fault.DocumentVariablesInvalid) || len(a.Errors) != 1 {
			t.Errorf("%s of %s: %s", c.given, c.typ, a.Body)
			continue
		}
		e := a.Errors[0]
		if path := strings.Trim(fmt.Sprint(e.Path), "[]"); path != "variable "+c.path || !strings.Contains(e.Message, c.message) || len(e.Locations) != 1 {
			t.Errorf("%s of %s: %s, want %s: %s", c.given, c.typ, a.Body, c.path, c.message)
		}
	}
}

func TestAllWrongVariablesAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	a := newServer(gqlhttp.Config{}).run(t, `query($a: Int!, $b: String, $c: Item) { echo(int: $a, text: $b, item: $c) }`,
		`{"b":1,"c":{"count":"x","color":"BLUE","other":1}}`)
	var paths []string
	for _, e := range a.Errors {
		paths = append(paths, fmt.Sprint(e.Path))
	}
	want := []string{"[variable a]", "[variable b]", "[variable c other]", "[variable c name]", "[variable c count]", "[variable c color]"}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Errorf("%s\n%s", diff, a.Body)
	}
}

func TestEndlessWrongVariablesAreCounted(t *testing.T) {
	t.Parallel()
	list := "[" + strings.TrimSuffix(strings.Repeat(`"x",`, 5000), ",") + "]"
	a := newServer(gqlhttp.Config{}).run(t, echo("ints", "[Int!]"), `{"v":`+list+`}`)
	if n := len(a.Errors); n != 101 || a.Errors[n-1].Message != "4900 more values of variables are wrong." {
		t.Errorf("%d errors, the last is %q", n, a.Errors[n-1].Message)
	}
}

func TestNullDoesNotSlipThroughADefault(t *testing.T) {
	t.Parallel()
	s := newServer(gqlhttp.Config{})
	const query = `query($v: Boolean = true) { echo(sure: $v) __typename @skip(if: $v) }`
	if a := s.run(t, query, `{"v":null}`); a.code() != string(fault.DocumentVariablesInvalid) {
		t.Errorf("null given: %d %s", a.Status, a.Body)
	}
	if a := s.run(t, query, `{}`); string(a.Data) != `{"echo":{"sure":true}}` {
		t.Errorf("nothing given: %s", a.Body)
	}
	if a := s.run(t, `query($v: Boolean = null) { echo(sure: $v) }`, ``); a.code() != string(fault.DocumentVariablesInvalid) {
		t.Errorf("null by default: %s", a.Body)
	}
	if a := s.run(t, `query($v: Boolean) { echo(sure: $v) }`, ``); a.Status != 200 {
		t.Errorf("absent: %s", a.Body)
	}
}

func TestAOneOfLiteralWantsVariablesThatCannotBeNull(t *testing.T) {
	t.Parallel()
	s := newServer(gqlhttp.Config{})
	if a := s.run(t, `query($v: String) { echo(pick: {text: $v}) }`, `{"v":"x"}`); a.code() != string(fault.DocumentValidationFailed) {
		t.Errorf("nullable: %s", a.Body)
	}
	if a := s.run(t, `query($v: String!, $n: Int!) { echo(pick: {text: $v, number: $n}) }`, `{"v":"x","n":1}`); a.code() != string(fault.DocumentValidationFailed) {
		t.Errorf("two: %s", a.Body)
	}
	if a := s.run(t, `query($v: String!) { echo(pick: {text: $v}) }`, `{"v":"x"}`); a.Status != 200 {
		t.Errorf("one: %s", a.Body)
	}
}

func TestNoNamesAreSuggestedWithoutIntrospection(t *testing.T) {
	t.Parallel()
	s := newServer(gqlhttp.Config{})
	answers := []answer{
		s.run(t, echo("color", "Color"), `{"v":"BLUE"}`), s.run(t, echo("item", "Item"), `{"v":{"name":"a","colr":1}}`),
		s.run(t, echo("pick", "Pick"), `{"v":{}}`), s.run(t, `{ ecko }`, ``), s.run(t, `{ echo(colr: 1) }`, ``),
		s.run(t, `{ echo(color: GREE) }`, ``), s.run(t, `{ echo(item: {nam: 1}) }`, ``), s.run(t, `query($v: Colr) { echo(color: $v) }`, ``),
	}
	for _, a := range answers {
		suggested := slices.ContainsFunc([]string{"Did you mean", "GREEN", "; the "}, func(s string) bool { return strings.Contains(a.Body, s) })
		if a.Status != 400 || suggested {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
}
