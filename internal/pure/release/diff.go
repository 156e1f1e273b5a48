package release

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"slipway/internal/base/meter"
	"slipway/internal/base/strictjson"
)

// ChangeKind is how a leaf differs.
type ChangeKind string

// How a leaf differs.
const (
	Added   ChangeKind = "ADDED"
	Removed ChangeKind = "REMOVED"
	Changed ChangeKind = "CHANGED"
)

// Change is one leaf that differs between two values.
type Change struct {
	// Pointer is the place, a JSON Pointer (RFC 6901).
	Pointer string
	Kind    ChangeKind
	// Before and After are JSON, nil if there is none or if they are Masked.
	Before, After json.RawMessage
	// Masked says that the values look like a secret.
	Masked bool
	// Immutable says that the leaf belongs to an input that must not change.
	Immutable bool
}

// BeforeJSON returns Before; without one it is JSON's null.
func (c Change) BeforeJSON() json.RawMessage { return c.Before }

// AfterJSON returns After; without one it is JSON's null.
func (c Change) AfterJSON() json.RawMessage { return c.After }

// Diff returns what differs between two JSON texts, leaf by leaf, in the order of their places. A leaf is
// a scalar, or an empty object or array. The items of arrays are told apart by their index; objects that
// each have a name of their own by that name, wherever they stand, and their pointer has the index that
// they have after, or had before if they are gone. What looks like a secret is masked. Either text may
// be empty, for nothing at all; neither may be anything else that is not JSON. The error is the context's, or
// the refusal of its meter.
func Diff(ctx context.Context, before, after json.RawMessage) ([]Change, error) {
	// Counted before they are read, which is most of the work. A comma in a text counts for a leaf, too.
	leaves := 1 + max(bytes.Count(before, comma), bytes.Count(after, comma))
	if err := meter.Spend(ctx, meter.Leaves, leaves); err != nil {
		return nil, err
	}
	d := differ{ctx: ctx}
	d.compare(place{}, nodeOf(before), nodeOf(after))
	if d.err != nil {
		return nil, d.err
	}
	slices.SortFunc(d.found, leaf.compare)
	changes := make([]Change, len(d.found))
	for i, l := range d.found {
		changes[i] = l.change
	}
	return changes, nil
}

// nodeOf reads what was stored as JSON, nil if there is nothing.
func nodeOf(text json.RawMessage) *strictjson.Node {
	if len(text) == 0 {
		return nil
	}
	n, err := strictjson.ParseWithin(text, strictjson.Limits{Depth: math.MaxInt, Bytes: math.MaxInt})
	if err != nil {
		panic(fmt.Sprintf("release: compare what is not JSON: %v", err))
	}
	return n
}

// differ collects the leaves that differ. What is absent on a side is nil there, which null is not.
type differ struct {
	ctx      context.Context
	path     strictjson.Path
	found    []leaf
	compared int
	err      error
}

var comma = []byte{','}

// ask asks now and then whether the comparison is to end.
func (d *differ) ask() {
	const often = 256
	if d.compared++; d.err == nil && d.compared%often == 0 {
		d.err = meter.Err(d.ctx)
	}
}

type leaf struct {
	path   strictjson.Path
	change Change
}

// compare orders leaves by their places. Of two at one place one is removed, and comes first.
func (l leaf) compare(other leaf) int {
	return cmp.Or(l.path.Compare(other.path), -cmp.Compare(l.change.Kind, other.change.Kind))
}

// compare looks at one place. What is of two kinds is a removal of the one and an addition of the other.
func (d *differ) compare(at place, before, after *strictjson.Node) {
	switch {
	case d.err != nil:
	case isLeaf(before) && isLeaf(after):
		d.leaf(at, before, after)
	case d.bothAre(strictjson.Object, before, after):
		d.members(at, before, after)
	case d.bothAre(strictjson.Array, before, after):
		d.items(at, before, after)
	default:
		d.expand(at, before, Removed)
		d.expand(at, after, Added)
	}
}

// bothAre reports whether two values are of a kind and are compared member by member: an empty one within another value
// is a leaf.
func (d *differ) bothAre(kind strictjson.Kind, before, after *strictjson.Node) bool {
	return before != nil && after != nil && before.Kind == kind && after.Kind == kind &&
		(len(d.path) == 0 || !isLeaf(before) && !isLeaf(after))
}

func (d *differ) members(at place, before, after *strictjson.Node) {
	had, has := before.Index(), after.Index()
	for i, key := range before.Keys {
		b, a := before.Items[i], has(key)
		if d.ask(); isSameScalar(b, a) {
			continue // as most are: nothing has to be known of its place
		}
		d.member(at, key, b, a, before, after)
	}
	for i, key := range after.Keys {
		if had(key) == nil {
			d.member(at, key, nil, after.Items[i], before, after)
		}
	}
}

func (d *differ) member(at place, key string, before, after *strictjson.Node, owners ...*strictjson.Node) {
	below := at.member(len(d.path) == 0, key, owners...)
	d.path.PushKey(key)
	d.compare(below, before, after)
	d.path.Pop()
}

func (d *differ) items(at place, before, after *strictjson.Node) {
	for _, p := range pairsOf(before.Items, after.Items) {
		below := at.item(follows(before, p.before) || follows(after, p.after))
		d.path.PushIndex(p.index())
		d.compare(below, itemOf(before, p.before), itemOf(after, p.after))
		d.path.Pop()
	}
}

// itemOf returns the item of an index, nil for -1.
func itemOf(n *strictjson.Node, index int) *strictjson.Node {
	if index < 0 {
		return nil
	}
	return n.Items[index]
}

// expand takes every leaf of a value that is on one side only.
func (d *differ) expand(at place, n *strictjson.Node, kind ChangeKind) {
	switch {
	case n == nil:
		return
	case isLeaf(n) && kind == Removed:
		d.leaf(at, n, nil)
	case isLeaf(n):
		d.leaf(at, nil, n)
	}
	for i, item := range n.Items {
		below := at.item(follows(n, i))
		if n.Kind == strictjson.Object {
			below = at.member(len(d.path) == 0, n.Keys[i], n)
		}
		d.path.Push(n, i)
		d.expand(below, item, kind)
		d.path.Pop()
	}
}

// leaf takes a leaf, at least one of whose sides is there, unless both are equal.
func (d *differ) leaf(at place, before, after *strictjson.Node) {
	d.ask()
	if d.err != nil || isSameScalar(before, after) {
		return
	}

	c := Change{Kind: Changed, Before: textOf(before), After: textOf(after)}
	switch {
	case bytes.Equal(c.Before, c.After):
		return
	case c.Before == nil:
		c.Kind = Added
	case c.After == nil:
		c.Kind = Removed
	}

	const more = 2 // leaves that are equal are compared in the time that a reported one takes
	if d.err = meter.Spend(d.ctx, meter.Leaves, more); d.err == nil {
		d.err = meter.Spend(d.ctx, meter.Matched, len(c.Before)+len(c.After))
	}
	if d.err != nil {
		return
	}

	if at.hides(before, after) {
		c.Masked, c.Before, c.After = true, nil, nil
	}
	c.Pointer = d.path.Pointer("")
	if d.err = meter.Answer(d.ctx, meter.Made, len(c.Pointer)+len(c.Before)+len(c.After)); d.err == nil {
		d.found = append(d.found, leaf{slices.Clone(d.path), c})
	}
}

// isLeaf reports whether a value has nothing below it; what is absent is no leaf.
func isLeaf(n *strictjson.Node) bool { return n != nil && len(n.Items) == 0 }

// isSameScalar reports whether two values are the same, neither of them an object or an array.
func isSameScalar(before, after *strictjson.Node) bool {
	if before == nil || after == nil {
		return before == after
	}
	return before.Kind < strictjson.Array && strictjson.Equal(before, after)
}

// textOf returns a leaf as JSON, nil for what is absent.
func textOf(n *strictjson.Node) json.RawMessage {
	if n == nil {
		return nil
	}
	return strictjson.Canonical(n)
}

// pair is an item on both sides by its indexes, -1 for a side if it is not.
type pair struct{ before, after int }

// index returns the index that the item has after, or had before if it is gone.
func (p pair) index() int {
	if p.after < 0 {
		return p.before
	}
	return p.after
}

// pairsOf pairs the items of two arrays: by their names where all have one of their own, else by their indexes.
func pairsOf(before, after []*strictjson.Node) []pair {
	names, named := namesOf(before)
	others, alsoNamed := namesOf(after)
	if named && alsoNamed {
		return pairsByName(names, others)
	}
	pairs := make([]pair, max(len(before), len(after)))
	for i := range pairs {
		pairs[i] = pair{i, i}
		if i >= len(before) {
			pairs[i].before = -1
		}
		if i >= len(after) {
			pairs[i].after = -1
		}
	}
	return pairs
}

func pairsByName(before, after map[string]int) []pair {
	pairs := make([]pair, 0, max(len(before), len(after)))
	for name, i := range after {
		p := pair{-1, i}
		if j, ok := before[name]; ok {
			p.before = j
		}
		pairs = append(pairs, p)
	}
	for name, i := range before {
		if _, both := after[name]; !both {
			pairs = append(pairs, pair{i, -1})
		}
	}
	return pairs
}

// namesOf returns the indexes of the items by their names, where all are objects and each has its own.
func namesOf(items []*strictjson.Node) (map[string]int, bool) {
	names := make(map[string]int, len(items))
	for i, item := range items {
		name := item.Get("name")
		if name == nil || name.Kind != strictjson.String {
			return nil, false
		}
		if _, taken := names[name.Text]; taken {
			return nil, false
		}
		names[name.Text] = i
	}
	return names, true
}
