package ecs_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"slipway/internal/ecs"
)

// seeds are objects whose members package json reads, and texts that it refuses.
var seeds = []string{
	`{}`, ` { } `, `{"a":1}`, `{"a":1,"x":2,"bc":[1,{"a":2}],"d":{"a":"}"}}`, "{ \"x\" : [ ] , \n\t\"bc\" : \"\\\"}\" , \"d\" : null }",
	`{"x":"\\\\","a":"\\","bc":true}`, `{"\u0061":1,"bc":2}`, `{"x\"":1,"a":2}`, `{"a":1,"a":2}`, `{"x":{"y":["]",{"z":"{"}]},"d":-1.5e3}`,
	``, `{`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{"a":1 "bc":2}`, `{"a":1}}`, `{"a":1]`, `[1]`, `"a"`, `{"a":"`, `{"a":1,"x":"\`, `{a:1}`, `null`, `{"a":1}x`, `{"x":[}`,
}

func TestMembersAreThoseThatAreRead(t *testing.T) {
	t.Parallel()
	for _, text := range seeds {
		compare(t, text)
	}
}

func FuzzMembers(f *testing.F) {
	for _, text := range seeds {
		f.Add(text)
	}
	f.Fuzz(compare)
}

// compare has all of a text read, and what members has of it: the values are the same.
func compare(t *testing.T, text string) {
	if !json.Valid([]byte(text)) {
		_ = ecs.Members([]byte(text), "a", "bc", "d") // it ends, and looks at nothing beyond the text
		return
	}
	var all, some struct {
		A  any `json:"a"`
		Bc any `json:"bc"`
		D  any `json:"d"`
	}
	allErr := json.Unmarshal([]byte(text), &all)
	someErr := json.Unmarshal(ecs.Members([]byte(text), "a", "bc", "d"), &some)
	if (allErr == nil) != (someErr == nil) || allErr == nil && !reflect.DeepEqual(all, some) {
		t.Errorf("%s: all of it has %v, %v; the members %v, %v", text, all, allErr, some, someErr)
	}
}
