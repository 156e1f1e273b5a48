package document

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
)

// assumedItems is how many items a list is taken to have before it runs, if its field does not say. The
// meter counts those beyond when they are there, and takes off those that are not.
const assumedItems = 5

// What a field costs before it runs. The meter counts what it takes then, and the caller's quota pays for it. Resolving
// a field of an object takes its time too.
const (
	costOfLeaf     = 0.1
	costOfObject   = 1
	costOfLarge    = 5
	costOfMutation = 10
	// costOfInputs is for each KiB that the arguments of a field have.
	costOfInputs = 6
	// costOfSchema is for each value of the schema that introspection asks for.
	costOfSchema = 0.01
)

// Cost is what an operation costs, as far as that is known before it runs. Its methods price the fields that it has,
// for those who count what they are resolved to.
type Cost struct {
	// Total is the cost of the whole operation.
	Total     float64
	operation *ast.OperationDefinition
	schema    *ast.Schema
	variables map[string]any
	lifted    lifted
	// sizes are the bytes of the variables.
	sizes map[string]int
	// large are the scalars whose values may be large.
	large []string
}

// Cost returns the cost of an operation of the document with the values of its variables.
func (d *Documents) Cost(doc *Document, op *ast.OperationDefinition, variables map[string]any) Cost {
	c := Cost{
		operation: op, schema: d.schema, variables: variables,
		lifted: doc.lifted, sizes: map[string]int{}, large: d.limits.Large,
	}
	c.Total = c.selections(op.SelectionSet, root(op)) + costOfSchema*float64(doc.introspection[op])
	return c
}

// Items returns how many objects a field is taken to answer with. around is the field that it is of, nil at the root.
func (c Cost) Items(f, around *ast.Field) float64 {
	var below parent
	if around != nil && around.Definition != nil {
		below.page = c.page(around)
	}
	return c.times(f, below)
}

// Each returns what each object costs that a field answers with, of which the set is selected. If the field is of an
// interface or a union, its type is empty until it is known.
func (c Cost) Each(f *ast.Field, set ast.SelectionSet, object string) float64 {
	if name := f.Definition.Type.Name(); c.isObject(name) {
		object = name
	}
	sum := c.selections(set, parent{page: c.page(f), object: object})
	switch {
	case f.Definition.Type.Elem == nil:
		return sum
	case len(set) == 0:
		return costOfLeaf
	default:
		return costOfObject + sum
	}
}

// Object returns the name if it is that of an object type which a field of an interface or a union may be resolved
// to, and else an empty one.
func (c Cost) Object(f *ast.Field, name string) string {
	if slices.Contains(c.objects(f.Definition.Type.Name()), name) {
		return name
	}
	return ""
}

// AnswersWithOne reports whether a field answers with one object of a known type, or null. Its cost is the one assumed.
func (c Cost) AnswersWithOne(f *ast.Field) bool {
	return f.Definition.Type.Elem == nil && c.isObject(f.Definition.Type.NamedType)
}

// isObject reports whether a type is that of objects, and not an interface, a union or a leaf.
func (c Cost) isObject(name string) bool {
	of := c.schema.Types[name]
	return of != nil && of.Kind == ast.Object
}

// parent is what decides on the cost of the fields right below it.
type parent struct {
	mutates bool
	// page is how many edges or nodes a connection may answer with; for others it is 0.
	page float64
	// object is the type of the object, empty until it is known.
	object string
}

func root(op *ast.OperationDefinition) parent { return parent{mutates: op.Operation == ast.Mutation} }

// selections returns what selections cost together. Of what is asked of different objects only what is asked of
// the parent's counts; until that is known the dearest, because each answer is one of them.
func (c Cost) selections(set ast.SelectionSet, below parent) float64 {
	s := sum{Cost: c, below: below}
	s.add(set, nil)
	return s.always + s.dearest
}

// sum adds up what the fields of a selection set cost, each of which is looked at once.
type sum struct {
	Cost
	below parent
	// always is what every object costs, and of what the objects of a type cost besides, until theirs is known. dearest
	// is the most of these.
	always, dearest float64
	of              map[string]float64
}

// add adds selections that are of the objects of some types, of all if types is nil.
func (s *sum) add(set ast.SelectionSet, types []string) {
	for _, selection := range set {
		if s.skips(selection) {
			continue
		}

		switch node := selection.(type) {
		case *ast.Field:
			s.count(s.field(node, s.below), types)
		case *ast.InlineFragment:
			s.fragment(node.TypeCondition, node.SelectionSet, types)
		case *ast.FragmentSpread:
			s.fragment(node.Definition.TypeCondition, node.Definition.SelectionSet, types)
		}
	}
}

// fragment adds what is selected of those of the types that meet a condition, of all of them if it is empty.
func (s *sum) fragment(condition string, set ast.SelectionSet, types []string) {
	possible := s.objects(condition)
	switch {
	case condition == "":
		s.add(set, types)
		return
	case s.below.object != "":
		if slices.Contains(possible, s.below.object) {
			s.add(set, nil)
		}
		return
	case types != nil:
		possible = slices.DeleteFunc(slices.Clone(possible), func(name string) bool { return !slices.Contains(types, name) })
	}

	if len(possible) > 0 {
		s.add(set, possible)
	}
}

// count adds a cost that the objects of some types have, all of them if types is nil.
func (s *sum) count(cost float64, types []string) {
	if types == nil {
		s.always += cost
		return
	}

	if s.of == nil {
		s.of = map[string]float64{}
	}
	for _, name := range types {
		s.of[name] += cost
		s.dearest = max(s.dearest, s.of[name])
	}
}

// objects returns the names of the object types that a type is, implements or has as its members.
func (c Cost) objects(name string) (names []string) {
	if c.isObject(name) {
		return []string{name}
	}
	for _, possible := range c.schema.PossibleTypes[name] {
		names = append(names, possible.Name)
	}
	return names
}

func (c Cost) field(f *ast.Field, below parent) float64 {
	own := c.own(f, below)
	if introspects(f) {
		return own
	}
	return own + c.times(f, below)*c.Each(f, f.SelectionSet, "")
}

// own returns what a field costs without what is below it.
func (c Cost) own(f *ast.Field, below parent) float64 {
	own := float64(costOfInputs * (c.bytes(f.Arguments) >> 10))
	switch {
	case below.mutates && f.Name != "__typename":
		return own + costOfMutation
	case len(f.SelectionSet) > 0:
		return own + costOfObject
	case slices.Contains(c.large, f.Definition.Type.Name()):
		return own + costOfLarge
	}
	return own + costOfLeaf
}

// times returns how many objects a field is taken to answer with.
func (c Cost) times(f *ast.Field, below parent) float64 {
	switch {
	case f.Definition.Type.Elem == nil:
		return 1
	case below.page > 0 && (f.Name == "edges" || f.Name == "nodes"):
		return below.page
	case f.Definition.Arguments.ForName("ids") != nil:
		ids, _ := c.argument(f.Arguments, "ids").([]any)
		return float64(max(len(ids), 1))
	default:
		return assumedItems
	}
}

// skips reports whether @skip or @include leaves the selection out.
func (c Cost) skips(selection ast.Selection) bool {
	var directives ast.DirectiveList
	switch node := selection.(type) {
	case *ast.Field:
		directives = node.Directives
	case *ast.InlineFragment:
		directives = node.Directives
	case *ast.FragmentSpread:
		directives = node.Directives
	}
	return c.is(directives.ForName("skip"), true) || c.is(directives.ForName("include"), false)
}

func (c Cost) is(directive *ast.Directive, want bool) bool {
	if directive == nil {
		return false
	}
	given, _ := c.argument(directive.Arguments, "if").(bool)
	return given == want
}

// page returns how many nodes the connection of a field is taken to have, 0 for a field of another kind. Of first
// and last the larger one counts; that only one of them may be given is not checked here.
func (c Cost) page(f *ast.Field) float64 {
	if !isConnection(f) {
		return 0
	}
	first, last := number(c.argument(f.Arguments, "first")), number(c.argument(f.Arguments, "last"))
	if size := max(first, last); size > 0 {
		return size
	}
	return assumedItems
}

func isConnection(f *ast.Field) bool {
	return f.Definition.Arguments.ForName("first") != nil || f.Definition.Arguments.ForName("last") != nil
}

func (c Cost) argument(arguments ast.ArgumentList, name string) any {
	argument := arguments.ForName(name)
	if argument == nil {
		return nil
	}
	value, err := argument.Value.Value(c.variables)
	if err != nil {
		return math.MaxInt32 // a number beyond 64 bits
	}
	return value
}

// number returns a value of Int, 0 for what is none or not positive.
func number(v any) float64 {
	var n float64
	switch v := v.(type) {
	case int:
		n = float64(v)
	case int64:
		n = float64(v)
	}
	return max(n, 0)
}

// Exceeded returns the refusal of an operation that costs more than most. It names the field that most of the
// cost is below.
func (c Cost) Exceeded(most int) *fault.Error {
	found := meter.Round(c.Total)
	if found == math.MaxInt32 {
		found = 0 // it is more than can be named
	}
	e := limit{"cost", most, "(--max-cost)"}.exceeded("The operation", found)
	d := dearest{Cost: c, factor: 1}
	d.find(c.operation.SelectionSet, root(c.operation))
	if d.field != nil && !introspects(d.field) {
		path := strings.Join(d.path, ".")
		e.Message += fmt.Sprintf(" Most of it is %s, which counts %s.", path, d.counts)
		e.Metadata["path"] = path
	}
	e.Message += " Ask for smaller pages with first or last, or for less in one operation."
	return e
}

// dearest looks for the field that most of an operation's cost is below.
type dearest struct {
	Cost
	// factor is how often the selections at hand are counted.
	factor float64

	path   []string
	field  *ast.Field
	total  float64
	counts string
}

// find goes down to the dearest field for as long as more than half of the cost is below it.
func (d *dearest) find(set ast.SelectionSet, below parent) {
	f := d.among(set, below)
	if f == nil {
		return
	}

	total := d.factor * d.Cost.field(f, below)
	if d.field != nil && total < d.total/2 {
		return
	}

	times, each := d.times(f, below), d.Each(f, f.SelectionSet, "")
	d.path, d.field, d.total = append(d.path, f.Alias), f, total

	switch kib := d.bytes(f.Arguments) >> 10; {
	case kib > 0 && float64(costOfInputs*kib) > times*each:
		d.counts = fmt.Sprintf("%d for each of %d KiB of arguments", costOfInputs, kib)
	case f.Definition.Type.Elem != nil:
		d.counts = fmt.Sprintf("%d items, each %d", meter.Round(times), meter.Round(each))
	case d.factor > 1:
		d.counts = fmt.Sprintf("%d times, each %d", meter.Round(d.factor), meter.Round(total/d.factor))
	default:
		d.counts = "what is below it"
	}

	d.factor *= times
	d.find(f.SelectionSet, parent{page: d.page(f)})
}

// among returns the dearest of the fields that are selected, those of fragments among them.
func (d *dearest) among(set ast.SelectionSet, below parent) (most *ast.Field) {
	consider := func(f *ast.Field) {
		if f != nil && (most == nil || d.Cost.field(f, below) > d.Cost.field(most, below)) {
			most = f
		}
	}

	for _, selection := range set {
		if d.skips(selection) {
			continue
		}

		switch node := selection.(type) {
		case *ast.Field:
			consider(node)
		case *ast.InlineFragment:
			consider(d.among(node.SelectionSet, below))
		case *ast.FragmentSpread:
			consider(d.among(node.Definition.SelectionSet, below))
		}
	}

	return most
}
