package strictjson_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"slipway/internal/strictjson"

	"slipway/internal/inputprop"
)

func TestFromValueTakesWhatGraphQLHandsOver(t *testing.T) {
	t.Parallel()
	word, number := "w", 7
	var none *string
	n, err := strictjson.FromValue(map[string]any{
		"z": []any{nil, true, "s\n", 1, int32(-2), int64(3), 1.5, 1e6, 1e21, json.Number("1.50")},
		"a": map[string]any{"p": &word, "n": none, "i": &number, "list": []string{"x"}, "maps": []map[string]any{{"k": 1}}},
		"r": json.RawMessage(`{"big": 12345678901234567890}`),
		"m": map[string]any(nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"a":{"i":7,"list":["x"],"maps":[{"k":1}],"n":null,"p":"w"},"m":null,"r":{"big":12345678901234567890},` +
		`"z":[null,true,"s\n",1,-2,3,1.5,1000000,1e+21,1.50]}`
	if got := string(n.JSON()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestFromValueRefusesWhatHasNoJSON(t *testing.T) {
	t.Parallel()
	deep := any("x")
	for range 65 {
		deep = []any{deep}
	}
	for name, c := range map[string]struct {
		value   any
		message string
	}{
		"not a number":  {math.NaN(), "finite"},
		"infinity":      {math.Inf(1), "finite"},
		"channel":       {make(chan int), "Go type chan int"},
		"bad UTF-8":     {"\xff", "UTF-8"},
		"bad key":       {map[string]any{"\xff": 1}, "UTF-8"},
		"bad literal":   {json.Number("01"), "expected the end"},
		"empty literal": {json.Number(""), "expected a JSON value"},
		"text literal":  {json.Number(`"1"`), "must be a number"},
		"bad raw":       {json.RawMessage(`{"a":1,"a":2}`), "duplicate"},
		"levels":        {deep, "at most 64 levels"},
		"levels in raw": {[]any{json.RawMessage(strings.Repeat("[", 64) + strings.Repeat("]", 64))}, "at most 64 levels"},
	} {
		_, err := strictjson.FromValue(map[string]any{"a": c.value})
		var syntax *strictjson.SyntaxError
		if !errors.As(err, &syntax) || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: got %v", name, err)
			continue
		}
		if name != "bad key" && !strings.HasPrefix(syntax.Pointer, "/a") {
			t.Errorf("%s: at %q", name, syntax.Pointer)
		}
	}
}

func TestStringsAreEscapedNoMoreThanNeeded(t *testing.T) {
	t.Parallel()
	n := &strictjson.Node{Kind: strictjson.String, Text: "\"\\/<>&\u2028é😀\n\r\t\b\x1f\x7f"}
	want := "\"\\\"\\\\/<>&\u2028é😀\\n\\r\\t\\b\\u001f\x7f\""
	if got := string(n.JSON()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSiblingsDoNotAddUpToLevels(t *testing.T) {
	t.Parallel()
	wide := make([]any, 0, 200)
	for range 100 {
		wide = append(wide, []any{}, map[string]any{})
	}
	if _, err := strictjson.FromValue(wide); err != nil {
		t.Error(err)
	}
}

func TestAnEmptyListIsNotNull(t *testing.T) {
	t.Parallel()
	var empty []any
	n, err := strictjson.FromValue(map[string]any{"list": empty})
	if err != nil || string(n.JSON()) != `{"list":[]}` {
		t.Errorf("FromValue = %v, %v", n, err)
	}
	draft, violations := inputprop.FromTyped(map[string]any{"array": map[string]any{"id": "a", "label": "A", "default": empty}}, "")
	if len(violations) > 0 {
		t.Fatal(violations)
	}
	p, violations := draft.Decode("")
	if len(violations) > 0 || string(inputprop.Encode(p)) != `{"id":"a","label":"A","type":"array","default":[]}` {
		t.Errorf("typed: %v %v", p, violations)
	}
}
