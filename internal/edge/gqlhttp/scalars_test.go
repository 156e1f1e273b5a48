package gqlhttp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"slipway/internal/base/fault"
	"slipway/internal/edge/gqlhttp"
	"slipway/internal/edge/gqlhttp/document"
)

// small takes JSON whose text is short, but no name.
func small(value document.Value) error {
	if value.IsEnum {
		return fmt.Errorf("must be small, found the name %s", value.Text)
	}
	if text, err := json.Marshal(value); err != nil || len(text) > 14 {
		return errors.New("must be small")
	}
	return nil
}

func smallJSON() gqlhttp.Config {
	return gqlhttp.Config{Scalars: map[string]document.Check{"JSON": small}}
}

func TestWrongLiteralsOfCustomScalarsAreRefusedWithTheDocument(t *testing.T) {
	t.Parallel()
	s := newServer(smallJSON())
	for query, message := range map[string]string{
		`{ echo(json: "longer than it may be") }`:                              "The value must be small.",
		`{ echo(json: [1, "longer than it may be"]) }`:                         "The value must be small.",
		`{ echo(json: NAME) }`:                                                 "The value must be small, found the name NAME.",
		`query($v: JSON = "longer than it may be") { echo(json: $v) }`:         "The value must be small.",
		`{ ...f } fragment f on Query { echo(json: "longer than it may be") }`: "The value must be small.",
		`query($v: Int) { echo(json: {a: "longer than it may be", b: [$v]}) }`: "The value must be small.",
	} {
		a := s.run(t, query, "")
		if a.code() != string(fault.DocumentValidationFailed) || len(a.Errors) != 1 || a.Errors[0].Message != message || len(a.Errors[0].Locations) != 1 {
			t.Errorf("%s: %d %s", query, a.Status, a.Body)
		}
	}
}

func TestNumbersOfLiteralsThatWouldLoseDigitsAreRefused(t *testing.T) {
	t.Parallel()
	s := newServer(gqlhttp.Config{Scalars: map[string]document.Check{"JSON": func(document.Value) error { return nil }}})
	for _, query := range []string{`{ echo(json: 9223372036854775808) }`, `{ echo(json: {a: [-9223372036854775809]}) }`, `{ echo(json: 1e999) }`} {
		a := s.run(t, query, "")
		if a.code() != string(fault.DocumentValidationFailed) || !strings.Contains(a.Body, "must have no number that 64 bits cannot hold") {
			t.Errorf("%s: %d %s", query, a.Status, a.Body)
		}
	}
}

func TestWrongVariablesOfCustomScalarsAreRefusedWithTheOthers(t *testing.T) {
	t.Parallel()
	s := newServer(smallJSON())
	a := s.run(t, `query($j: JSON, $i: Int) { echo(json: $j, int: $i) }`, `{"j":"longer than it may be","i":"x"}`)
	if a.code() != string(fault.DocumentVariablesInvalid) || len(a.Errors) != 2 || a.Errors[0].Message != `Variable "$j" must be small.` ||
		fmt.Sprint(a.Errors[0].Path) != "[variable j]" || len(a.Errors[0].Locations) != 1 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

func TestLiteralsAreCheckedWithTheirVariables(t *testing.T) {
	t.Parallel()
	s := newServer(smallJSON())
	const (
		inline   = `query($v: String) { echo(json: {a: [$v]}) }`
		fragment = `query($v: String) { ...f } fragment f on Query { echo(json: {a: [$v]}) }`
		standard = `query($v: String = "longer than it may be") { echo(json: {a: [$v]}) }`
		other    = `query($v: String) { echo(json: [$v]) }`
	)
	for query, variables := range map[string]string{inline: `{"v":"too long"}`, fragment: `{"v":"too long"}`, standard: `{}`} {
		a := s.run(t, query, variables)
		if a.code() != string(fault.DocumentVariablesInvalid) || len(a.Errors) != 1 || fmt.Sprint(a.Errors[0].Path) != "[variable v]" ||
			a.Errors[0].Message != `The value around "$v" must be small.` || len(a.Errors[0].Locations) != 1 {
			t.Errorf("%s: %d %s", query, a.Status, a.Body)
		}
	}
	for _, query := range []string{inline, fragment, standard, other} {
		if a := s.run(t, query, `{"v":"abc"}`); a.Status != 200 || !strings.Contains(string(a.Data), `"abc"`) {
			t.Errorf("%s: %d %s", query, a.Status, a.Body)
		}
	}
}

func TestOneVariableIsInsideFewLiterals(t *testing.T) {
	t.Parallel()
	s := newServer(gqlhttp.Config{Scalars: map[string]document.Check{"JSON": func(document.Value) error { return nil }}})
	for query, want := range map[string]fault.Code{
		`query($v: JSON, $w: JSON) { echo(json: [$v, $v, {a: $v}]) b: echo(json: [$v, $w]) }`:                          "",
		`query($v: JSON) { echo(json: [$v, $v, {a: $v}]) b: echo(json: [$v, $v]) }`:                                    fault.DocumentLimitExceeded,
		`query($v: JSON) { echo(json: $v) b: echo(json: [$v]) c: echo(json: $v) d: echo(json: $v) e: echo(json: $v) }`: "",
		`query a($v: Int) { echo(json: [$v, $v, $v]) }`:                                                                "",
		`query($v: JSON) { ...f } fragment f on Query { echo(json: [$v, $v, $v, $v, $v]) }`:                            fault.DocumentLimitExceeded,
	} {
		if a := s.run(t, query, `{"v":1}`); a.code() != string(want) || want != "" && !strings.Contains(a.Body, `"metadata":{"limit":"repeats","value":4}`) {
			t.Errorf("%s: %s", query, a.Body)
		}
	}
}

func TestAKeptDocumentIsNotCheckedAgain(t *testing.T) {
	t.Parallel()
	var checked atomic.Int32
	s := newServer(gqlhttp.Config{Scalars: map[string]document.Check{"JSON": func(document.Value) error { checked.Add(1); return nil }}})
	for i, want := range []int32{1, 1, 1} {
		if s.run(t, `{ echo(json: 1) }`, ""); checked.Load() != want {
			t.Errorf("after run %d there were %d checks, want %d", i+1, checked.Load(), want)
		}
	}
	for i, want := range []int32{2, 3} {
		if s.run(t, `query($v: JSON) { a: echo(json: $v) b: echo(json: $v) }`, `{"v":1}`); checked.Load() != want {
			t.Errorf("after run %d with a variable that is used twice there were %d checks, want %d", i+1, checked.Load(), want)
		}
	}
}

func TestValuesOfCustomScalarsKeepTheirDigitsAndTheirOrder(t *testing.T) {
	t.Parallel()
	const value = `{"one":1.0,"big":123456789012345678901234567890,"null":null,"list":[{"z":1e3,"a":"\ud83d\ude00"}]}`
	const want = `{"one":1.0,"big":123456789012345678901234567890,"null":null,"list":[{"z":1e3,"a":"😀"}]}`
	a := newServer(gqlhttp.Config{}).run(t, `query($v: JSON) { echo(json: $v) }`, `{"v":`+value+`}`)
	if !strings.Contains(string(a.Data), want) {
		t.Errorf("%s is not in %s", want, a.Body)
	}
}
