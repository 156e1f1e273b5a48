package strictjson_test

import (
	"encoding/json"
	"testing"

	"slipway/internal/base/strictjson"
)

type shape struct {
	Name   string                      `json:"name"`
	Note   *string                     `json:"note,omitzero"`
	Sides  []int32                     `json:"sides,omitzero"`
	Labels *strictjson.Ordered[string] `json:"labels,omitzero"`
	Free   *strictjson.Node            `json:"free,omitzero"`
	Kept   json.RawMessage             `json:"kept,omitzero"`
	Inner  *shape                      `json:"inner,omitzero"`
	Any    any                         `json:"any,omitzero"`
	hidden int
	border
}

type border struct {
	Wide bool `json:"wide"`
}

func TestEncodeWritesWhatDecodeReads(t *testing.T) {
	t.Parallel()
	text := `{"name":"a\"\u0007 <&>","note":"","sides":[1,-2],"labels":{"b":"2","a":"1"},"free":{"z":1.50,"a":[null]},` +
		`"kept":[1e3],"inner":{"name":"b","labels":{},"wide":false},"wide":true}`
	var s shape
	if violations := strictjson.Decode(parse(t, text), &s, ""); len(violations) > 0 {
		t.Fatal(violations)
	}
	if got := string(strictjson.Encode(s)); got != text {
		t.Errorf("got  %s\nwant %s", got, text)
	}
	s = shape{Any: []any{"x", int32(1), true, nil, map[string]string{"k": "v"}}, hidden: 1}
	want := `{"name":"","any":["x",1,true,null,{"k":"v"}],"wide":false}`
	if got := string(strictjson.Encode(&s)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// What encoding/json writes of the same struct is the same, without its escapes for HTML and JavaScript.
func TestEncodeAgreesWithTheLibrary(t *testing.T) {
	t.Parallel()
	note := "n\t\u007f\x01é"
	s := shape{Name: "plain", Note: &note, Sides: []int32{}, Inner: &shape{}, Any: "y"}
	want, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(strictjson.Encode(s)); got != string(want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestTextThatIsNoUTF8IsReplaced(t *testing.T) {
	t.Parallel()
	if got := string(strictjson.Encode("a\xffb")); got != "\"a\ufffdb\"" {
		t.Errorf("got %s", got)
	}
}

func TestPathsAreOrderedByKeysAndIndexes(t *testing.T) {
	t.Parallel()
	path := func(elems ...any) strictjson.Path {
		var p strictjson.Path
		for _, e := range elems {
			switch e := e.(type) {
			case string:
				p.PushKey(e)
			case int:
				p.PushIndex(e)
			}
		}
		return p
	}
	ordered := []strictjson.Path{nil, path("a"), path("a", 2), path("a", 10), path("b"), path("b", "a~/"), path("b", "c")}
	for i, p := range ordered {
		for j, other := range ordered {
			if got, want := p.Compare(other), min(max(i-j, -1), 1); got != want {
				t.Errorf("%q and %q: got %d, want %d", p.Pointer(""), other.Pointer(""), got, want)
			}
		}
	}
	if got := ordered[5].Pointer("/root"); got != "/root/b/a~0~1" {
		t.Errorf("got %s", got)
	}
}

func TestAWideObjectIsLookedUpByItsIndex(t *testing.T) {
	t.Parallel()
	for _, members := range []int{0, 3, 200} {
		n := &strictjson.Node{Kind: strictjson.Object}
		for i := range members {
			n.Append(string(rune('a'+i)), &strictjson.Node{Kind: strictjson.Number, Text: "1"})
		}
		find := n.Index()
		for i, key := range n.Keys {
			if find(key) != n.Items[i] {
				t.Errorf("of %d members: %q is not found", members, key)
			}
		}
		if find("none") != nil {
			t.Errorf("of %d members: found what is not there", members)
		}
	}
}
