package inputprop

import (
	"slices"
	"strconv"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
)

// Level is a list of inputs made ready for values. Mapped inputs are of the level of their reference, behind it, as
// they are in a form; the items of a collection have a level of their own.
type Level struct {
	Inputs []*LevelInput
	// Order has each input after those that it depends on.
	Order []*LevelInput
	// ByID has the inputs by their ids, the first if an id is there twice.
	ByID map[string]*LevelInput
	// Loops are the dependencies that close a circle; Order leaves them out.
	Loops []Loop
}

// LevelInput is an input of a level.
type LevelInput struct {
	Property Property
	Traits   Traits
	Nested   Nested
	ID       string
	// Index is the place of the input in Inputs of its level.
	Index int
	// Pointer leads to the input from its level, as a JSON Pointer.
	Pointer string
	// Owner is the reference in whose mapped_inputs it is.
	Owner      *LevelInput
	Conditions []Condition
	// Cost is about how much there is to do for the conditions, in bytes.
	Cost int
	// The rest is made when it is first needed.
	initial *Initial
	items   *Level
}

// Initial is an initial value made ready.
type Initial struct {
	InitialValue
	// Templated is set if there is a template to be filled in.
	Templated bool
	// Size is about how many bytes the literal has.
	Size int
}

// Initial returns the initial value of the input.
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

// Items returns the level of a collection's items, nil for other variants.
func (in *LevelInput) Items() *Level {
	if in.items == nil && in.Nested.IsCollection() {
		in.items = NewLevel(in.Nested.Inputs)
	}
	return in.items
}

// Condition is an entry of show_when: what it expects of an input of the level. Source is nil if the level has no
// such input. Expected is a value, or an object of operators.
type Condition struct {
	ID       string
	Source   *LevelInput
	Expected *strictjson.Node
}

// Loop is a circle of dependencies, as the ids on its way; its first depends on its second.
type Loop struct {
	Input *LevelInput
	IDs   []string
}

// NewLevel returns the level of a list of properties.
func NewLevel(list []Property) *Level {
	l := &Level{ByID: make(map[string]*LevelInput, len(list))}
	for i, property := range list {
		pointer := "/" + strconv.Itoa(i)
		owner := l.add(property, pointer, nil)
		if owner.Nested.IsCollection() {
			continue
		}
		for j, behind := range owner.Nested.Inputs {
			l.add(behind, pointer+"/"+owner.Nested.Member+"/"+strconv.Itoa(j), owner)
		}
	}
	l.connect()
	return l
}

// NewLevelInput returns an input that is not of a level yet.
func NewLevelInput(p Property) *LevelInput {
	return &LevelInput{Property: p, Traits: p.Traits(), Nested: p.Nested(), ID: p.Head().ID}
}

func (l *Level) add(property Property, pointer string, owner *LevelInput) *LevelInput {
	in := NewLevelInput(property)
	in.Index, in.Pointer, in.Owner = len(l.Inputs), pointer, owner
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

// dependencies returns the inputs of the level whose values decide on this one.
func (l *Level) dependencies(in *LevelInput) []*LevelInput {
	var list []*LevelInput
	if in.Owner != nil {
		list = append(list, in.Owner)
	}
	for _, c := range in.Conditions {
		list = append(list, c.Source)
	}
	if ref := DynamicRef(in.Property); ref != nil {
		for _, param := range ref.Params.Values {
			list = append(list, l.ByID[param.Input])
		}
	}
	return slices.DeleteFunc(list, func(other *LevelInput) bool { return other == nil || other == in })
}

// The states of a sorter's inputs; 0 is one that it has not visited.
const (
	visiting = 1 + iota
	visited
)

// sorter sorts the inputs of a level by their dependencies.
type sorter struct {
	*Level
	state []byte
	path  []*LevelInput
}

func (s *sorter) visit(in *LevelInput) {
	switch s.state[in.Index] {
	case visited:
		return
	case visiting:
		s.close(in)
		return
	}
	s.state[in.Index] = visiting
	s.path = append(s.path, in)
	for _, other := range s.dependencies(in) {
		s.visit(other)
	}
	s.path = s.path[:len(s.path)-1]
	s.state[in.Index] = visited
	s.Order = append(s.Order, in)
}

// close notes the circle that the end of the path closes by coming back to an input.
func (s *sorter) close(in *LevelInput) {
	if len(s.Loops) == fault.MaxViolations {
		return
	}
	var ids []string
	for _, on := range s.path[slices.Index(s.path, in):] {
		ids = append(ids, strictjson.Short(on.ID))
	}
	s.Loops = append(s.Loops, Loop{s.path[len(s.path)-1], append(ids, strictjson.Short(in.ID))})
}

// The operators of what a condition expects; several in one object must all hold.
const (
	OpEquals      = "equals"
	OpNot         = "not"
	OpAnyOf       = "any_of"
	OpContains    = "contains"
	OpContainsAny = "contains_any"
	OpContainsAll = "contains_all"
	// OpContainsEvery is contains_all by its other name.
	OpContainsEvery = "contains-all"
	OpExists        = "exists"
)

// Operators are all of them, in the order in which messages list them.
var Operators = []string{OpEquals, OpNot, OpAnyOf, OpContains, OpContainsAny, OpContainsAll, OpContainsEvery, OpExists}
