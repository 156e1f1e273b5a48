package inputprop_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
)

// shuffled returns a value in which the members of objects are in another order, at every depth. If the members are
// those of a struct, which is written in the order of its own, only what is inside is shuffled.
func shuffled(n *strictjson.Node, chance *rand.Rand, free bool) *strictjson.Node {
	other := &strictjson.Node{Kind: n.Kind, Bool: n.Bool, Text: n.Text, Keys: slices.Clone(n.Keys)}
	for i, item := range n.Items {
		inside := free
		if n.Kind == strictjson.Object {
			inside = free || slices.Contains([]string{"default", "show_when", "params", "fields"}, n.Keys[i])
		}
		other.Items = append(other.Items, shuffled(item, chance, inside))
	}
	if free && n.Kind == strictjson.Object {
		chance.Shuffle(len(n.Keys), func(i, j int) {
			other.Keys[i], other.Keys[j] = other.Keys[j], other.Keys[i]
			other.Items[i], other.Items[j] = other.Items[j], other.Items[i]
		})
	}
	return other
}

func TestTheOrderOfKeysIsKeptWhereverNamesAreFree(t *testing.T) {
	t.Parallel()
	list, violations := inputprop.DecodeList(parse(t, fixture(t)), "")
	if len(violations) > 0 {
		t.Fatal(violations)
	}
	moved := 0
	for _, p := range list {
		written := inputprop.NewColumn(p)
		for seed := range uint64(20) {
			given := shuffled(parse(t, string(written.JSON())), rand.New(rand.NewPCG(seed, 0)), false)
			raw := inputprop.NewRawProperty(given)
			again, violations := raw.Decode("")
			if len(violations) > 0 {
				t.Fatalf("%s: %v", given.JSON(), violations)
			}
			column := inputprop.NewColumn(again)
			if string(column.JSON()) != string(given.JSON()) {
				t.Errorf("got  %s\nwant %s", column.JSON(), given.JSON())
			}
			if string(given.JSON()) != string(written.JSON()) {
				moved++
			}
			if !column.Equal(written) || raw.Changes(column, written) {
				t.Errorf("another order is another value: %s", given.JSON())
			}
			// What the value is made of says the same in the same order.
			if s := again.InitialValue(); s.Node != nil && string(s.Node.JSON()) != string(given.Get("default").JSON()) {
				t.Errorf("the initial value is %s, not %s", s.Node.JSON(), given.Get("default").JSON())
			}
		}
	}
	if moved < 60 {
		t.Errorf("only %d of the schemas have another order", moved)
	}
}
