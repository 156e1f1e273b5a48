package inputprop

import (
	"strconv"

	"slipway/internal/strictjson"
)

// plan is a level of inputs made ready for values: those of mapped_inputs stand behind their
// reference, as they do in a form.
type plan struct {
	inputs []*planned
	// order has each input after those that it depends on.
	order []*planned
	byID  map[string]*planned
	// loops are the dependencies that close a circle; order leaves them out.
	loops []loop
}

// planned is one input of a level.
type planned struct {
	property Property
	traits   Traits
	nested   Nested
	id       string
	index    int
	// place leads to the input from its level, as a JSON Pointer.
	place string
	// owner is the reference in whose mapped_inputs it is.
	owner      *planned
	conditions []condition
	// work is about how much there is to do for the conditions, in bytes.
	work int
	// The rest is made when it is first needed.
	beginning *beginning
	items     *plan
}

// beginning is an initial value made ready.
type beginning struct {
	InitialValue
	// templated says that there is something to be filled in; size is about how many bytes there are.
	templated bool
	size      int
}

func (in *planned) begins() *beginning {
	if in.beginning == nil {
		b := &beginning{InitialValue: in.property.InitialValue()}
		if b.Node != nil {
			b.templated = !b.Verbatim && holds(b.Node, templateOpen)
			b.size = sizeOf(b.Node)
		}
		in.beginning = b
	}
	return in.beginning
}

// level is that of a collection's items, nil for other variants.
func (in *planned) level() *plan {
	if in.items == nil && in.nested.IsCollection() {
		in.items = planOf(in.nested.Inputs)
	}
	return in.items
}

// condition is an entry of show_when. It has no source where the level has no such input.
type condition struct {
	id       string
	source   *planned
	expected *strictjson.Node
}

// loop is a circle of dependencies, as the ids on its way; its first depends on its second.
type loop struct {
	input *planned
	ids   []string
}

func planOf(list []Property) *plan {
	p := &plan{byID: make(map[string]*planned, len(list))}
	for i, property := range list {
		place := "/" + strconv.Itoa(i)
		owner := p.add(property, place, nil)
		if owner.nested.IsCollection() {
			continue
		}
		for j, behind := range owner.nested.Inputs {
			p.add(behind, place+"/"+owner.nested.Member+"/"+strconv.Itoa(j), owner)
		}
	}
	p.connect()
	return p
}

func newPlanned(p Property) *planned {
	return &planned{property: p, traits: p.Traits(), nested: p.Nested(), id: p.Head().ID}
}

func (p *plan) add(property Property, place string, owner *planned) *planned {
	in := newPlanned(property)
	in.index, in.place, in.owner = len(p.inputs), place, owner
	p.inputs = append(p.inputs, in)
	if _, taken := p.byID[in.id]; !taken {
		p.byID[in.id] = in
	}
	return in
}

// connect finds the sources of the conditions, and an order in which to decide them.
func (p *plan) connect() {
	for _, in := range p.inputs {
		entries := in.property.Head().ShowWhen
		if entries == nil {
			continue
		}
		in.work = sizeOf(entries)
		for i, id := range entries.Keys {
			in.conditions = append(in.conditions, condition{id, p.byID[id], entries.Items[i]})
		}
	}
	s := sorter{plan: p, state: make([]byte, len(p.inputs))}
	for _, in := range p.inputs {
		s.visit(in)
	}
}

// sizeOf returns about how many bytes the value takes as JSON.
func sizeOf(n *strictjson.Node) int {
	total := len(n.Text) + 4
	for _, key := range n.Keys {
		total += len(key) + 4
	}
	for _, item := range n.Items {
		total += sizeOf(item)
	}
	return total
}
