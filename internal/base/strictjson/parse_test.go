package strictjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"slipway/internal/base/strictjson"
)

func TestParseAcceptsTheGrammar(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`null`, `true`, `false`, `0`, `-0`, `-0.0`, `1`, `-1`, `10`, `1.5`, `1e3`, `1E3`, `1e+3`, `1e-3`, `0e1`, `0e+1`,
		`-1.5E-10`, `123456789012345678901234567890`, `1e400`, `0.00000000000000000000000000000001`,
		`""`, `" "`, `"a"`, `"\""`, `"\\"`, `"\/"`, `"\b\f\n\r\t"`, `"\u0000"`, `"\u00e9"`, `"\uD83D\uDE00"`,
		`"\uFFFF"`, `"\uFDD0"`, `"é€😀"`, "\"\u2028\u2029\"", "\"\x7f\"", "\"\ufeff\"", `"\ud7ff\ue000"`,
		`[]`, `[ ]`, `[null]`, `[1,2]`, `[[],[[]]]`, `[1 , "a" ,true]`, " [1] ", "\t\n\r [1]\n", `[""]`,
		`{}`, `{ }`, `{"":0}`, `{"a":1}`, `{"a":1,"b":{"a":2}}`, `{ "a" : 1 , "b" : [ ] }`, `{"a":{},"A":{}}`,
		`{"é":1,"e\u0301":2}`, `{"a/b":1,"m~n":2}`, `{"a":[{"a":[{"a":null}]}]}`, strings.Repeat("[", 64) + strings.Repeat("]", 64),
	} {
		n, err := strictjson.Parse([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		sameJSON(t, string(n.JSON()), text)
	}
}

func TestParseRefusesEverythingElse(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		``, ` `, `nul`, `nulll`, `True`, `NaN`, `Infinity`, `-Infinity`, `undefined`, `a`, `'a'`, `#`, "\x00", "\ufeff[]",
		`+1`, `-`, `--1`, `01`, `-01`, `1.`, `.5`, `-.5`, `1.e3`, `1e`, `1e+`, `1E-`, `1e1.5`, `0x1`, `1_000`, `1 000`, `1,`, `１`,
		`"`, `"a`, `"\"`, `"\a"`, `"\x41"`, `"\u"`, `"\u12"`, `"\u12g4"`, `"\u+123"`, `"\U0041"`, "\"\n\"", "\"\t\"", "\"\x00\"", "\"\x1f\"",
		`"\ud800"`, `"\udc00"`, `"\ud800\ud800"`, `"\ud800a"`, `"\ud800\n"`, `"\ud800\u"`, `"\udc00\ud800"`,
		"\"\xff\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "\"\xe2\x82\"", "\xe9",
		`[`, `]`, `[1`, `[1,`, `[1,]`, `[,1]`, `[,]`, `[1 2]`, `[1,,2]`, `[1]]`, `[1}`, `[1:2]`, `["a"`, "[\x0b1]", "[\u00a01]", `[1]x`, `[1],[2]`, `[]{}`,
		`{`, `}`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{,}`, `{a:1}`, `{'a':1}`, `{1:1}`, `{null:1}`, `{"a" 1}`, `{"a"::1}`, `{"a",1}`, `{"a":1 "b":2}`, `{"a":}`, `{"a":1}}`, `{"a":1]`,
		`{"a":1,"a":1}`, `{"a":1,"\u0061":2}`, `[{"x":{"a":1,"b":2,"a":3}}]`, `{"\ud800":1}`,
		`[1] // comment`, `/**/[1]`, `[1]/`, strings.Repeat("[", 65) + strings.Repeat("]", 65), strings.Repeat(`{"a":`, 65),
	} {
		if n, err := strictjson.Parse([]byte(text)); err == nil {
			t.Errorf("%q was taken as %s", text, n.JSON())
		} else if !errors.As(err, new(*strictjson.SyntaxError)) {
			t.Errorf("%q: %T is no SyntaxError", text, err)
		}
	}
}

func TestSyntaxErrorsNamePlaceAndPointer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, pointer, message string }{
		{`{"a/b":{"m~n":[0,tru]}}`, "/a~1b/m~0n/1", "expected a JSON value, found 't' (line 1, column 18)"},
		{"{\n  \"é\": 1,\n  \"é\": 2}", "/é", `duplicate key "é" (line 3, column 3)`},
		{`{"a":["\ud800"]}`, "/a/0", `lone surrogate \ud800 in a string (line 1, column 8)`},
		{"[\"é\xff\"]", "/0", `byte 0xff in a string is not UTF-8 (line 1, column 4)`},
		{`[1] 2`, "", "expected the end, found '2' (line 1, column 5)"},
		{`{"a":1`, "", "expected ',' or '}', found the end (line 1, column 7)"},
		{`{"":[[`, "/", ""},
		{strings.Repeat("[", 70), strings.Repeat("/0", 64), "is nested too deep, at most 64 levels are allowed (line 1, column 65)"},
	} {
		_, err := strictjson.Parse([]byte(c.text))
		var syntax *strictjson.SyntaxError
		if !errors.As(err, &syntax) {
			t.Fatalf("%q: %v", c.text, err)
		}
		if !strings.HasPrefix(syntax.Pointer, c.pointer) || c.message != "" && (syntax.Pointer != c.pointer || err.Error() != c.message) {
			t.Errorf("%q: got %q at %q", c.text, err.Error(), syntax.Pointer)
		}
	}
}

func TestDuplicatesAreFoundAmongManyKeys(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	for i := range 40 {
		b.WriteString(`"k` + string(rune('a'+i)) + `":0,`)
	}
	if _, err := strictjson.Parse([]byte("{" + b.String() + `"z":0}`)); err != nil {
		t.Error(err)
	}
	for _, again := range []string{"ka", "kq", "k\x7f"} {
		if _, err := strictjson.Parse([]byte("{" + b.String() + `"` + again + `":0}`)); err == nil {
			t.Errorf("%q was taken twice", again)
		}
	}
}

func TestLimitsAreTheCallers(t *testing.T) {
	t.Parallel()
	deep := func(levels int) []byte {
		return []byte(strings.Repeat("[", levels) + strings.Repeat("]", levels))
	}
	if _, err := strictjson.ParseWithin(deep(67), strictjson.Limits{Depth: 67}); err != nil {
		t.Error(err)
	}
	if _, err := strictjson.ParseWithin(deep(68), strictjson.Limits{Depth: 67}); err == nil {
		t.Error("68 levels pass a limit of 67")
	}
	if _, err := strictjson.ParseWithin(deep(100_000), strictjson.Limits{Depth: 1 << 30, Bytes: 1 << 30}); err == nil {
		t.Error("no limit at all")
	}
	full := []byte(`"` + strings.Repeat("a", strictjson.MaxBytes-2) + `"`)
	if _, err := strictjson.Parse(full); err != nil {
		t.Error(err)
	}
	if _, err := strictjson.Parse(append(full, ' ')); err == nil || !strings.Contains(err.Error(), "262144 bytes, found 262145") {
		t.Error(err)
	}
}

func TestDeepNestingIsRefusedBeforeTheRestIsRead(t *testing.T) {
	t.Parallel()
	levels := strings.Repeat(`{"a":`, strictjson.MaxLevels+1)
	_, want := strictjson.Parse([]byte(levels))
	if want == nil {
		t.Fatalf("%d levels were taken", strictjson.MaxLevels+1)
	}
	// Each is wrong by itself: whoever reads on refuses it for another reason or at another place.
	for _, rest := range []string{strings.Repeat(`{"a":`, 10_000), "x", "\xff", `{"a":1,"a":2}`} {
		if _, err := strictjson.Parse([]byte(levels + rest)); err == nil || err.Error() != want.Error() {
			t.Errorf("with %.10q after it: %v, want %v", rest, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"a":[1.50,"\ud83d\ude00",null,true,{"~/":""}]}`))
	f.Add([]byte(`"\ud800"`))
	f.Add([]byte(fixture(f)))
	f.Fuzz(func(t *testing.T, text []byte) {
		n, err := strictjson.Parse(text)
		if err != nil {
			return
		}
		if !json.Valid(text) {
			t.Fatalf("%q was taken", text)
		}
		once := n.JSON()
		again, err := strictjson.ParseWithin(once, strictjson.Limits{Bytes: 1 << 30})
		if err != nil {
			t.Fatalf("%q was written as %q: %v", text, once, err)
		}
		if twice := again.JSON(); !bytes.Equal(once, twice) {
			t.Fatalf("%q became %q", once, twice)
		}
	})
}
