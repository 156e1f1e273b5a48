package strictjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/strictjson"
)

// memberSeeds are objects, and texts that are none.
var memberSeeds = []string{
	`{}`, ` { } `, `{"a":1}`, `{"a":1,"x":2,"bc":[1,{"a":2}],"d":{"a":"}"}}`, "{ \"x\" : [ ] , \n\t\"bc\" : \"\\\"}\" , \"d\" : null } \r\n",
	`{"x":"\\\\","a":"\\","bc":true}`, `{"\u0061":1,"bc":2}`, `{"x\"":1,"a":2}`, `{"a":1,"a":2}`, `{"x":{"y":["]",{"z":"{"}]},"d":-1.5e3}`, `{"":""}`,
	``, `{`, `{"a"}`, `{"a":}`, `{"a": }`, `{"a":1,}`, `{"a":1 "bc":2}`, `{"a":1}}`, `{"a":1]`, `[1]`, `"a"`, `{"a":"`, `{"a":1,"x":"\`, `{a:1}`, `null`, `{"a":1}x`,
	`{"x":[}`, `{"\x":1}`, `{"a":1,,"b":2}`,
}

func TestEachMemberHasTheMembersOfAnObject(t *testing.T) {
	t.Parallel()
	for _, text := range memberSeeds {
		compareMembers(t, text)
	}
	for _, text := range []string{``, `{`, `{"a"}`, `{"a":}`, `{"a": }`, `{"a":1,}`, `[1]`, `"a"`, `null`, `{"a":"`, `{a:1}`, `{"a":1}x`, `{"\x":1}`, `{"a":1,,"b":2}`} {
		if err := strictjson.EachMember([]byte(text), func([]byte, []byte) error { return nil }); err == nil {
			t.Errorf("%s is divided into members", text)
		}
	}
	refused := errors.New("refused")
	visits := 0
	err := strictjson.EachMember([]byte(`{"a":1,"b":2}`), func([]byte, []byte) error { visits++; return refused })
	if !errors.Is(err, refused) || visits != 1 {
		t.Errorf("%v after %d visits", err, visits)
	}
}

func FuzzEachMember(f *testing.F) {
	for _, text := range memberSeeds {
		f.Add(text)
	}
	f.Fuzz(compareMembers)
}

// compareMembers has a text divided by EachMember and by package json: if that finds an object, the members are the
// same, and a value is no more than its own text.
func compareMembers(t *testing.T, text string) {
	got := map[string]string{}
	err := strictjson.EachMember([]byte(text), func(name, value []byte) error {
		if cap(value) != len(value) || !bytes.Equal(bytes.Trim(value, " \t\r\n"), value) {
			t.Errorf("%s: value %q of the capacity %d", text, value, cap(value))
		}
		got[string(name)] = string(value)
		return nil
	})
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &members) != nil || members == nil || !utf8.ValidString(text) {
		return // it ends, and looks at nothing beyond the text
	}
	want := map[string]string{}
	for name, value := range members {
		want[name] = string(value)
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%s: %v\n%s", text, err, diff)
	}
}
