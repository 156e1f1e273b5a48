package gqlhttp

import (
	"encoding/json"
	"math"
	"slices"

	"slipway/internal/strictjson"

	"github.com/vektah/gqlparser/v2/ast"
)

// assumedItems is how many items a list is taken to have before it runs, where its field does not say. The
// meter counts those beyond when they are there, and takes off those that are not.
const assumedItems = 5

// What a field costs: resolving a field of an object takes its time too.
const (
	costOfLeaf     = 0.1
	costOfObject   = 1
	costOfLarge    = 5
	costOfMutation = 10
	// costOfInputs is for each KiB that the arguments of a field have.
	costOfInputs = 6
	// costOfSchema is for each value of the schema that is told.
	costOfSchema = 0.01
)

// cost adds up what an operation costs, as far as that is known before it runs.
type cost struct {
	schema    *ast.Schema
	variables map[string]any
	// sizes are the bytes of the variables.
	sizes map[string]int
	// large are the scalars whose values may be large.
	large []string
}

func (d *documents) costOf(variables map[string]any) cost {
	return cost{schema: d.schema, variables: variables, sizes: map[string]int{}, large: d.limits.Large}
}

// operation is what an operation costs that is told so many values of the schema.
func (c cost) operation(op *ast.OperationDefinition, told int) float64 {
	return c.selections(op.SelectionSet, parent{mutates: op.Operation == ast.Mutation}) + costOfSchema*float64(told)
}

// parent is what decides on the cost of the fields right below it.
type parent struct {
	mutates bool
	// page is how many edges or nodes a connection may answer with; for others it is 0.
	page float64
	// object is the type of the object, empty until it is known.
	object string
}

// selections is what selections cost together. Of what is asked of different objects only what is asked of
// the parent's counts; until that is known the dearest, because each answer is one of them.
func (c cost) selections(set ast.SelectionSet, below parent) float64 {
	always, dearest := 0.0, 0.0
	var of map[string]float64
	conditional := func(condition string, set ast.SelectionSet) {
		object := c.schema.Types[condition]
		isObject := object != nil && object.Kind == ast.Object
		if isObject && below.object != "" && below.object != condition {
			return
		}
		sum := c.selections(set, below)
		if !isObject || below.object != "" {
			always += sum
			return
		}
		if of == nil {
			of = map[string]float64{}
		}
		of[condition] += sum
		dearest = max(dearest, of[condition])
	}
	for _, selection := range set {
		if c.skips(selection) {
			continue
		}
		switch node := selection.(type) {
		case *ast.Field:
			always += c.field(node, below)
		case *ast.InlineFragment:
			conditional(node.TypeCondition, node.SelectionSet)
		case *ast.FragmentSpread:
			conditional(node.Definition.TypeCondition, node.Definition.SelectionSet)
		}
	}
	return always + dearest
}

func (c cost) field(f *ast.Field, below parent) float64 {
	own := c.own(f, below)
	if introspects(f) {
		return own
	}
	return own + c.times(f, below)*c.each(f, f.SelectionSet, "")
}

// own is what a field costs without what is below it.
func (c cost) own(f *ast.Field, below parent) float64 {
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

// times is how many objects a field is taken to answer with.
func (c cost) times(f *ast.Field, below parent) float64 {
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

// each is what each object that a field answers with costs, of which the set is selected; its type is empty
// until it is known.
func (c cost) each(f *ast.Field, set ast.SelectionSet, object string) float64 {
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

// skips reports whether @skip or @include leaves the selection out.
func (c cost) skips(selection ast.Selection) bool {
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

func (c cost) is(directive *ast.Directive, want bool) bool {
	if directive == nil {
		return false
	}
	given, _ := c.argument(directive.Arguments, "if").(bool)
	return given == want
}

// page is how many nodes the connection of a field is taken to have, 0 for a field of another kind. Of first
// and last the larger one counts; that only one of them may be given is not judged here.
func (c cost) page(f *ast.Field) float64 {
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

func (c cost) argument(arguments ast.ArgumentList, name string) any {
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

// number is a value of Int, 0 for what is none or not positive.
func number(v any) float64 {
	var n float64
	switch v := v.(type) {
	case int:
		n = float64(v)
	case int64:
		n = float64(v)
	case json.Number:
		n, _ = v.Float64()
	}
	return max(n, 0)
}

// bytes is about how many bytes the arguments of a field have as JSON.
func (c cost) bytes(arguments ast.ArgumentList) (sum int) {
	for _, argument := range arguments {
		sum += c.literal(argument.Value)
	}
	return sum
}

func (c cost) literal(v *ast.Value) int {
	if v.Kind == ast.Variable {
		size, known := c.sizes[v.Raw]
		if !known {
			size = sizeOf(c.variables[v.Raw])
			c.sizes[v.Raw] = size
		}
		return size
	}
	sum := len(v.Raw)
	for _, child := range v.Children {
		sum += len(child.Name) + c.literal(child.Value) + 1
	}
	return sum
}

// valueBytes is what a value counts for at least: many small ones are as much work as a long text.
const valueBytes = 24

// sizeOf is about how many bytes a value has as JSON.
func sizeOf(v any) (sum int) {
	sum = valueBytes
	switch v := v.(type) {
	case string:
		return max(sum, len(v)+2)
	case json.Number:
		return max(sum, len(v))
	case []any:
		for _, item := range v {
			sum += sizeOf(item)
		}
	case map[string]any:
		for key, item := range v {
			sum += len(key) + sizeOf(item)
		}
	case strictjson.Node:
		return sizeOfNode(&v)
	}
	return sum
}

func sizeOfNode(n *strictjson.Node) int {
	if len(n.Items) == 0 {
		return max(valueBytes, len(n.Text)+2)
	}
	sum := valueBytes
	for _, key := range n.Keys {
		sum += len(key)
	}
	for _, item := range n.Items {
		sum += sizeOfNode(item)
	}
	return sum
}
