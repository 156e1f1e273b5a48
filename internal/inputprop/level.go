package inputprop

import (
	"slices"
	"strconv"

	"slipway/internal/fault"
	"slipway/internal/strictjson"
)

// plan is a level of inputs made ready for values: those of mapped_inputs stand behind their
// reference, as they do in a form.
type Level struct {
	Inputs []*LevelInput
	// order has each input after those that it depends on.
	Order []*LevelInput
	ByID  map[string]*LevelInput
	// loops are the dependencies that close a circle; order leaves them out.
	Loops []Loop
}

// planned is one input of a level.
type LevelInput struct {
	Property Property
	Traits   Traits
	Nested   Nested
	ID       string
	Index    int
	// place leads to the input from its level, as a JSON Pointer.
	Pointer string
	// owner is the reference in whose mapped_inputs it is.
	Owner      *LevelInput
	Conditions []Condition
	// work is about how much there is to do for the conditions, in bytes.
	Cost int
	// The rest is made when it is first needed.
	initial *Initial
	items   *Level
}

// beginning is an initial value made ready.
type Initial struct {
	InitialValue
	// templated says that there is something to be filled in; size is about how many bytes there are.
	Templated bool
	Size      int
}

func (in *LevelInput) Initial() *Initial {
	if in.initial == nil {
		b := &Initial{InitialValue: in.Property.InitialValue()}
		if b.Node != nil {
			b.Templated = !b.Verbatim && ContainsText(b.Node, TemplateOpen)
			b.Size = sizeOf(b.Node)
		}
		in.initial = b
	}
	return in.initial
}

// level is that of a collection's items, nil for other variants.
func (in *LevelInput) Items() *Level {
	if in.items == nil && in.Nested.IsCollection() {
		in.items = NewLevel(in.Nested.Inputs)
	}
	return in.items
}

// condition is an entry of show_when. It has no source where the level has no such input.
type Condition struct {
	ID       string
	Source   *LevelInput
	Expected *strictjson.Node
}

// loop is a circle of dependencies, as the ids on its way; its first depends on its second.
type Loop struct {
	Input *LevelInput
	IDs   []string
}

func NewLevel(list []Property) *Level {
	p := &Level{ByID: make(map[string]*LevelInput, len(list))}
	for i, property := range list {
		place := "/" + strconv.Itoa(i)
		owner := p.add(property, place, nil)
		if owner.Nested.IsCollection() {
			continue
		}
		for j, behind := range owner.Nested.Inputs {
			p.add(behind, place+"/"+owner.Nested.Member+"/"+strconv.Itoa(j), owner)
		}
	}
	p.connect()
	return p
}

func NewLevelInput(p Property) *LevelInput {
	return &LevelInput{Property: p, Traits: p.Traits(), Nested: p.Nested(), ID: p.Head().ID}
}

func (l *Level) add(property Property, place string, owner *LevelInput) *LevelInput {
	in := NewLevelInput(property)
	in.Index, in.Pointer, in.Owner = len(l.Inputs), place, owner
	l.Inputs = append(l.Inputs, in)
	if _, taken := l.ByID[in.ID]; !taken {
		l.ByID[in.ID] = in
	}
	return in
}

// ValueIDs returns the ids of the inputs that have a value.
func (l *Level) ValueIDs() []string {
	var ids []string
	for _, in := range l.Inputs {
		if !in.Traits.NoValue {
			ids = append(ids, in.ID)
		}
	}
	return ids
}

// connect finds the sources of the conditions, and an order in which to decide them.
func (l *Level) connect() {
	for _, in := range l.Inputs {
		entries := in.Property.Head().ShowWhen
		if entries == nil {
			continue
		}
		in.Cost = sizeOf(entries)
		for i, id := range entries.Keys {
			in.Conditions = append(in.Conditions, Condition{id, l.ByID[id], entries.Items[i]})
		}
	}
	s := sorter{Level: l, state: make([]byte, len(l.Inputs))}
	for _, in := range l.Inputs {
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

// dependencies are the inputs of the level whose values decide on this one.
func (l *Level) dependencies(in *LevelInput) []*LevelInput {
	var list []*LevelInput
	if in.Owner != nil {
		list = append(list, in.Owner)
	}
	for _, c := range in.Conditions {
		list = append(list, c.Source)
	}
	if ref := DynamicRef(in.Property); ref != nil {
		for _, name := range ref.ParamNames() {
			list = append(list, l.ByID[ref.Params[name].Input])
		}
	}
	return slices.DeleteFunc(list, func(other *LevelInput) bool { return other == nil || other == in })
}

// The states of a sorter's inputs; 0 is one that it has not come to.
const (
	under = 1 + iota
	done
)

type sorter struct {
	*Level
	state []byte
	way   []*LevelInput
}

func (s *sorter) visit(in *LevelInput) {
	switch s.state[in.Index] {
	case done:
		return
	case under:
		s.close(in)
		return
	}
	s.state[in.Index] = under
	s.way = append(s.way, in)
	for _, other := range s.dependencies(in) {
		s.visit(other)
	}
	s.way = s.way[:len(s.way)-1]
	s.state[in.Index] = done
	s.Order = append(s.Order, in)
}

// close notes the circle that the last of the way closes by coming back to an input.
func (s *sorter) close(in *LevelInput) {
	if len(s.Loops) == fault.MaxViolations {
		return
	}
	var ids []string
	for _, on := range s.way[slices.Index(s.way, in):] {
		ids = append(ids, strictjson.Short(on.ID))
	}
	s.Loops = append(s.Loops, Loop{s.way[len(s.way)-1], append(ids, strictjson.Short(in.ID))})
}

// The operators of a condition; several in one object must all hold.
const (
	OpEquals      = "equals"
	OpNot         = "not"
	OpAnyOf       = "any_of"
	OpContains    = "contains"
	OpContainsAny = "contains_any"
	OpContainsAll = "contains_all"
	// opContainsEvery is contains_all by its other name.
	OpContainsEvery = "contains-all"
	OpExists        = "exists"
)

var Operators = []string{OpEquals, OpNot, OpAnyOf, OpContains, OpContainsAny, OpContainsAll, OpContainsEvery, OpExists}
