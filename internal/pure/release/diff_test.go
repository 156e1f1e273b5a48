package release_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/pure/release"
)

// told writes changes as lines: +, - or ~, the place, and the values.
func told(changes []release.Change) []string {
	var lines []string
	for _, c := range changes {
		line := map[release.ChangeKind]string{release.Added: "+", release.Removed: "-", release.Changed: "~"}[c.Kind] + c.Pointer
		for _, value := range []json.RawMessage{c.Before, c.After} {
			if value != nil {
				line += " " + string(value)
			}
		}
		if c.Masked {
			line += " masked"
		}
		lines = append(lines, line)
	}
	return lines
}

func TestDiffNamesEachLeafThatDiffers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after string
		want          []string
	}{
		"nothing at all":         {"", "", nil},
		"equal":                  {`{"a":[1,{"b":null}]}`, `{ "a" : [1, {"b":null}] }`, nil},
		"equal numbers":          {`{"a":1,"b":100,"c":0.5}`, `{"a":1.0,"b":1e2,"c":5e-1}`, nil},
		"numbers beyond doubles": {`{"a":9007199254740992}`, `{"a":9007199254740993}`, []string{"~/a 9007199254740992 9007199254740993"}},
		"equal texts":            {`{"\u0061":"\u00e9"}`, `{"a":"é"}`, nil},
		"changed":                {`{"a":1,"b":2}`, `{"a":1,"b":3.50}`, []string{"~/b 2 3.5"}},
		"of another kind":        {`{"a":1}`, `{"a":"1"}`, []string{`~/a 1 "1"`}},
		"null is a value":        {`{"a":null,"b":1}`, `{"b":null,"c":null}`, []string{"-/a null", "~/b 1 null", "+/c null"}},
		"added and removed":      {`{"a":1}`, `{"b":true}`, []string{"-/a 1", "+/b true"}},
		"expanded": {`{"a":{"x":1,"y":{"z":[2,{}]}}}`, `{"b":[[],"s"]}`,
			[]string{"-/a/x 1", "-/a/y/z/0 2", "-/a/y/z/1 {}", "+/b/0 []", `+/b/1 "s"`}},
		"nested":               {`{"a":{"b":{"c":1,"d":2}}}`, `{"a":{"b":{"c":1,"d":3}}}`, []string{"~/a/b/d 2 3"}},
		"scalar to object":     {`{"a":1}`, `{"a":{"b":2}}`, []string{"-/a 1", "+/a/b 2"}},
		"object to array":      {`{"a":{"0":1}}`, `{"a":[1]}`, []string{"+/a/0 1", "-/a/0 1"}},
		"emptied":              {`{"a":{"b":1},"c":[1]}`, `{"a":{},"c":[]}`, []string{"+/a {}", "-/a/b 1", "+/c []", "-/c/0 1"}},
		"filled":               {`{"a":{}}`, `{"a":{"b":1}}`, []string{"-/a {}", "+/a/b 1"}},
		"empty of two kinds":   {`{"a":{}}`, `{"a":[]}`, []string{"~/a {} []"}},
		"from nothing":         {``, `{"a":{"b":1}}`, []string{"+/a/b 1"}},
		"to nothing":           {`{}`, ``, []string{"- {}"}},
		"all added":            {`{}`, `{"a":1}`, []string{"+/a 1"}},
		"array by index":       {`{"a":[1,2,3]}`, `{"a":[1,3]}`, []string{"~/a/1 2 3", "-/a/2 3"}},
		"objects by index":     {`{"a":[{"x":1},{"x":2}]}`, `{"a":[{"x":0},{"x":1},{"x":2}]}`, []string{"~/a/0/x 1 0", "~/a/1/x 2 1", "+/a/2/x 2"}},
		"order of the indexes": {`{"a":[0,0,0,0,0,0,0,0,0,0,0]}`, `{"a":[0,0,1,0,0,0,0,0,0,0,1]}`, []string{"~/a/2 0 1", "~/a/10 0 1"}},
		"by name": {`{"e":[{"name":"A","value":"1"},{"name":"B","value":"2"},{"name":"D","value":"4"}]}`,
			`{"e":[{"name":"C","value":"3"},{"name":"A","value":"1"},{"name":"B","value":"0"}]}`,
			[]string{`+/e/0/name "C"`, `+/e/0/value "3"`, `-/e/2/name "D"`, `-/e/2/value "4"`, `~/e/2/value "2" "0"`}},
		"moved":               {`{"e":[{"name":"A"},{"name":"B"}]}`, `{"e":[{"name":"B"},{"name":"A"}]}`, nil},
		"a name twice":        {`{"e":[{"name":"A","v":1},{"name":"A","v":2}]}`, `{"e":[{"name":"A","v":2}]}`, []string{"~/e/0/v 1 2", `-/e/1/name "A"`, "-/e/1/v 2"}},
		"a name of no text":   {`{"e":[{"name":1,"v":1}]}`, `{"e":[{"name":2,"v":1}]}`, []string{"~/e/0/name 1 2"}},
		"pointers":            {`{"a/b":{"~":1,"":2,"m~n/o":3}}`, `{}`, []string{"-/a~1b/ 2", "-/a~1b/m~0n~1o 3", "-/a~1b/~0 1"}},
		"names beyond ASCII":  {`{"größe":{"日本":1}}`, `{"größe":{"日本":2,"😀":"\u2028"}}`, []string{"~/größe/日本 1 2", "+/größe/😀 \"\u2028\""}},
		"containers and more": {taskDefinition("web:1", "info"), taskDefinition("web:2", "debug"), []string{`~/definition/containerDefinitions/0/environment/0/value "info" "debug"`, `~/definition/containerDefinitions/0/image "web:1" "web:2"`}},
	} {
		got := told(diff(t, json.RawMessage(c.before), json.RawMessage(c.after)))
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: want (-), got (+):\n%s", name, diff)
		}
	}
}

func taskDefinition(image, level string) string {
	return `{"arn":"td:7","definition":{"containerDefinitions":[{"name":"web","image":"` + image + `",
		"environment":[{"name":"LOG_LEVEL","value":"` + level + `"}]},{"name":"log","image":"log:1"}]}}`
}

// leaves returns the leaves of a tree by their pointers, written apart from what is tested.
func leaves(pointer string, tree any, into map[string]string) map[string]string {
	switch v := tree.(type) {
	case map[string]any:
		for name, member := range v {
			leaves(pointer+"/"+name, member, into)
		}
		if len(v) > 0 {
			return into
		}
	case []any:
		for i, item := range v {
			leaves(pointer+"/"+strconv.Itoa(i), item, into)
		}
		if len(v) > 0 {
			return into
		}
	}
	text, err := json.Marshal(tree)
	if err != nil {
		panic(err)
	}
	into[pointer] = string(text)
	return into
}

// plainTree makes a tree whose members are no numbers and look like no secrets.
func plainTree(random *rand.Rand, depth int) any {
	kind := random.IntN(9)
	if depth == 0 {
		kind = random.IntN(5)
	}
	switch kind {
	case 0:
		return nil
	case 1:
		return random.IntN(2) == 0
	case 2, 3:
		return random.IntN(3)
	case 4:
		return string(rune('x' + random.IntN(3)))
	case 5:
		list := make([]any, random.IntN(4))
		for i := range list {
			list[i] = plainTree(random, depth-1)
		}
		return list
	default:
		object := map[string]any{}
		for range random.IntN(4) {
			object[string(rune('a'+random.IntN(4)))] = plainTree(random, depth-1)
		}
		return object
	}
}

func TestAppliedToBeforeADiffGivesAfter(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5000) {
		random := rand.New(rand.NewPCG(seed, 2))
		trees := [2]any{}
		texts := [2]json.RawMessage{}
		for i := range trees {
			trees[i] = map[string]any{"root": plainTree(random, 4)}
			text, err := json.Marshal(trees[i])
			if err != nil {
				t.Fatal(err)
			}
			texts[i] = text
		}
		changes := diff(t, texts[0], texts[1])
		want := leaves("", trees[1], map[string]string{})
		if diff := cmp.Diff(want, applied(t, changes, leaves("", trees[0], map[string]string{}))); diff != "" {
			t.Fatalf("seed %d: %s to %s by %v: want (-), got (+):\n%s", seed, texts[0], texts[1], told(changes), diff)
		}
		if back := diff(t, texts[1], texts[0]); len(back) != len(changes) {
			t.Fatalf("seed %d: %d changes there, %d back", seed, len(changes), len(back))
		}
		if same := string(texts[0]) == string(texts[1]); same != (len(changes) == 0) {
			t.Fatalf("seed %d: %s and %s: %v", seed, texts[0], texts[1], told(changes))
		}
	}
}

// applied carries changes out on leaves: first the removals, then the rest.
func applied(t *testing.T, changes []release.Change, on map[string]string) map[string]string {
	t.Helper()
	for _, c := range changes {
		if c.Kind == release.Added {
			continue
		}
		if on[c.Pointer] != string(c.Before) {
			t.Fatalf("%s was %s, the change says %s", c.Pointer, on[c.Pointer], c.Before)
		}
		delete(on, c.Pointer)
	}
	after := map[string]string{}
	for _, c := range changes {
		if c.Kind == release.Removed {
			continue
		}
		if old, taken := on[c.Pointer]; taken {
			t.Fatalf("%s is set and was %s", c.Pointer, old)
		}
		after[c.Pointer] = string(c.After)
	}
	maps.Copy(on, after)
	return on
}

func TestDiffIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	before := json.RawMessage(`{"e":[{"name":"A","v":1},{"name":"B","v":2}],"f":{"0":1},"g":1}`)
	after := json.RawMessage(`{"e":[{"name":"C","v":1},{"name":"D","v":2}],"f":[1],"h":1}`)
	want := fmt.Sprint(told(diff(t, before, after)))
	for range 100 {
		if got := fmt.Sprint(told(diff(t, before, after))); got != want {
			t.Fatalf("%s\nand then %s", want, got)
		}
	}
}

func TestWhatIsNoJSONIsAMistakeOfTheProgram(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("it was compared")
		}
	}()
	diff(t, json.RawMessage(`{`), nil)
}

// diff is what differs if nothing is counted.
func diff(t *testing.T, before, after json.RawMessage) []release.Change {
	t.Helper()
	changes, err := release.Diff(t.Context(), before, after)
	if err != nil {
		t.Fatal(err)
	}
	return changes
}
