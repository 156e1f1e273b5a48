package release

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"slipway/internal/meter"
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
	// Before and After are JSON, nil where there is none or where they are Masked.
	Before, After json.RawMessage
	// Masked says that the values look like a secret.
	Masked bool
	// Immutable says that the leaf belongs to an input that must not change.
	Immutable bool
}

// BeforeJSON gives Before; without one it is JSON's null.
func (c Change) BeforeJSON() json.RawMessage { return c.Before }

// AfterJSON gives After; without one it is JSON's null.
func (c Change) AfterJSON() json.RawMessage { return c.After }

// Diff gives what differs between two JSON texts, leaf by leaf, in the order of their places. A leaf is
// a scalar, or an empty object or array. The items of arrays are told apart by their index; objects that
// each have a name of their own by that name, wherever they stand, and their pointer has the index that
// they have after, or had before where they are gone. What looks like a secret is masked. Either text may
// be empty, for nothing at all; neither may be anything else that is not JSON. The error is the context's, or
// the refusal of its meter.
func Diff(ctx context.Context, before, after json.RawMessage) ([]Change, error) {
	// Counted before they are read, which is most of the work. A comma in a text counts for a leaf, too.
	leaves := 1 + max(bytes.Count(before, comma), bytes.Count(after, comma))
	if err := meter.Spend(ctx, meter.Leaves, leaves); err != nil {
		return nil, err
	}
	d := differ{ctx: ctx}
	d.compare(&place{}, treeOf(before), treeOf(after))
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

// differ collects the leaves that differ.
type differ struct {
	ctx      context.Context
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
	path   []step
	change Change
}

// compare orders leaves by their places. Of two at one place one is removed, and comes first.
func (l leaf) compare(other leaf) int {
	return cmp.Or(comparePaths(l.path, other.path), -cmp.Compare(l.change.Kind, other.change.Kind))
}

// absent is the value of what is not there, which null is not.
type absent struct{}

// compare looks at one place. What is of two kinds is a removal of the one and an addition of the other.
func (d *differ) compare(at *place, before, after any) {
	switch {
	case d.err != nil:
	case isLeaf(before) && isLeaf(after):
		d.leaf(at, before, after)
	case d.members(at, before, after):
	case d.items(at, before, after):
	default:
		d.expand(at, before, Removed)
		d.expand(at, after, Added)
	}
}

// members compares two objects, and says whether they are two.
func (d *differ) members(at *place, before, after any) bool {
	b, isObject := before.(map[string]any)
	a, areObjects := after.(map[string]any)
	if !isObject || !areObjects || at.above != nil && (isLeaf(b) || isLeaf(a)) {
		return false
	}
	for name, before := range b {
		after := valueOf(a, name)
		if d.ask(); isScalar(before) && before == after {
			continue // as most are, and nothing is to be told of its place
		}
		d.compare(at.member(name, b, a), before, after)
	}
	for name := range a {
		if _, both := b[name]; !both {
			d.compare(at.member(name, b, a), absent{}, a[name])
		}
	}
	return true
}

func valueOf(members map[string]any, name string) any {
	if value, ok := members[name]; ok {
		return value
	}
	return absent{}
}

// items compares two arrays, and says whether they are two.
func (d *differ) items(at *place, before, after any) bool {
	b, isArray := before.([]any)
	a, areArrays := after.([]any)
	if !isArray || !areArrays || at.above != nil && (isLeaf(b) || isLeaf(a)) {
		return false
	}
	pairs := byIndex(b, a)
	if names, ok := namesOf(b); ok {
		if others, ok := namesOf(a); ok {
			pairs = byName(names, others)
		}
	}
	for _, p := range pairs {
		hidden := follows(b, p.before) || follows(a, p.after)
		switch {
		case p.after < 0:
			d.compare(at.item(p.before, hidden), b[p.before], absent{})
		case p.before < 0:
			d.compare(at.item(p.after, hidden), absent{}, a[p.after])
		default:
			d.compare(at.item(p.after, hidden), b[p.before], a[p.after])
		}
	}
	return true
}

// expand takes every leaf of a value that is on one side only.
func (d *differ) expand(at *place, value any, kind ChangeKind) {
	switch v := value.(type) {
	case absent:
		return
	case map[string]any:
		for name, member := range v {
			d.expand(at.member(name, v), member, kind)
		}
	case []any:
		for i, item := range v {
			d.expand(at.item(i, follows(v, i)), item, kind)
		}
	}
	switch {
	case !isLeaf(value):
	case kind == Removed:
		d.leaf(at, value, absent{})
	default:
		d.leaf(at, absent{}, value)
	}
}

// leaf takes a leaf, at least one of whose sides is there, unless both are equal.
func (d *differ) leaf(at *place, before, after any) {
	d.ask()
	if d.err != nil || isScalar(before) && before == after {
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
	const more = 2 // leaves that are equal are compared in the time that one takes which is told
	if d.err = meter.Spend(d.ctx, meter.Leaves, more); d.err == nil {
		d.err = meter.Spend(d.ctx, meter.Matched, len(c.Before)+len(c.After))
	}
	if d.err != nil {
		return
	}
	if at.hides(before, after) {
		c.Masked, c.Before, c.After = true, nil, nil
	}
	path := at.path()
	c.Pointer = pointer(path)
	if d.err = meter.Answer(d.ctx, meter.Made, len(c.Pointer)+len(c.Before)+len(c.After)); d.err == nil {
		d.found = append(d.found, leaf{path, c})
	}
}
