package gqlhttp

import (
	"context"
	"encoding/json"
	"math"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

const (
	// standardPage is how many items a page has that is asked for without first and last.
	standardPage = 50
	// standardList is how many items a list is taken to have that has no pages.
	standardList = 5
)

// What a field costs, in tenths: resolving a field of an object takes its time too.
const (
	costOfLeaf   = 1
	costOfObject = 10
	costOfLarge  = 50
	costOfChange = 100
)

// ceiling is the highest cost that is told from higher ones, in tenths. Two of them multiply without overflow.
const ceiling = math.MaxInt32

// bill adds up what an operation costs.
type bill struct {
	schema    *ast.Schema
	variables map[string]any
	// large are the scalars whose values may be large.
	large []string
}

// total is what the operation costs, at most ceiling.
func (b bill) total(op *ast.OperationDefinition) int {
	const tenths = 10
	sum := b.selections(op.SelectionSet, parent{mutating: op.Operation == ast.Mutation})
	if sum == ceiling {
		return ceiling
	}
	return (sum + tenths - 1) / tenths
}

// parent is what decides on the cost of the fields right below it.
type parent struct {
	mutating bool
	// page is how many edges or nodes a connection may answer with; for others it is 0.
	page int
}

// selections is what selections cost together. Of what is asked of different objects only the dearest
// counts, because each answer is one of them.
func (b bill) selections(set ast.SelectionSet, below parent) int {
	always, dearest := 0, 0
	var of map[string]int
	conditional := func(condition string, set ast.SelectionSet) {
		cost := b.selections(set, below)
		if object := b.schema.Types[condition]; object == nil || object.Kind != ast.Object {
			always += cost
			return
		}
		if of == nil {
			of = map[string]int{}
		}
		of[condition] += cost
		dearest = max(dearest, of[condition])
	}
	for _, selection := range set {
		if b.skips(selection) {
			continue
		}
		switch node := selection.(type) {
		case *ast.Field:
			always += b.field(node, below)
		case *ast.InlineFragment:
			conditional(node.TypeCondition, node.SelectionSet)
		case *ast.FragmentSpread:
			conditional(node.Definition.TypeCondition, node.Definition.SelectionSet)
		}
		always, dearest = min(always, ceiling), min(dearest, ceiling)
	}
	return min(always+dearest, ceiling)
}

func (b bill) field(f *ast.Field, below parent) int {
	own := costOfLeaf
	switch {
	case below.mutating && f.Name != "__typename":
		own = costOfChange
	case len(f.SelectionSet) > 0:
		own = costOfObject
	case slices.Contains(b.large, f.Definition.Type.Name()):
		own = costOfLarge
	}
	if introspects(f) {
		return own
	}
	switch {
	case below.page > 0 && (f.Name == "edges" || f.Name == "nodes"):
		own = min(own+b.selections(f.SelectionSet, parent{}), ceiling) * below.page
	case f.Definition.Type.Elem != nil:
		own += b.items(f) * b.selections(f.SelectionSet, parent{})
	default:
		own += b.selections(f.SelectionSet, parent{page: b.page(f)})
	}
	return min(own, ceiling)
}

// skips says whether @skip or @include leaves the selection out.
func (b bill) skips(selection ast.Selection) bool {
	var directives ast.DirectiveList
	switch node := selection.(type) {
	case *ast.Field:
		directives = node.Directives
	case *ast.InlineFragment:
		directives = node.Directives
	case *ast.FragmentSpread:
		directives = node.Directives
	}
	return b.is(directives.ForName("skip"), true) || b.is(directives.ForName("include"), false)
}

func (b bill) is(directive *ast.Directive, want bool) bool {
	if directive == nil {
		return false
	}
	given, _ := b.argument(directive.Arguments, "if").(bool)
	return given == want
}

// items is how many the list of a field may have: as many as ids are given, where it takes ids.
func (b bill) items(f *ast.Field) int {
	if f.Definition.Arguments.ForName("ids") == nil {
		return standardList
	}
	ids, _ := b.argument(f.Arguments, "ids").([]any)
	return max(len(ids), 1)
}

// page is how many nodes the connection of a field may have, 0 for a field of another kind. Of first and last
// the larger one counts; that only one of them may be given is not judged here.
func (b bill) page(f *ast.Field) int {
	declared := f.Definition.Arguments
	if declared.ForName("first") == nil && declared.ForName("last") == nil {
		return 0
	}
	first, last := number(b.argument(f.Arguments, "first")), number(b.argument(f.Arguments, "last"))
	if size := max(first, last); size > 0 {
		return size
	}
	return standardPage
}

func (b bill) argument(arguments ast.ArgumentList, name string) any {
	argument := arguments.ForName(name)
	if argument == nil {
		return nil
	}
	value, err := argument.Value.Value(b.variables)
	if err != nil {
		return ceiling // a number beyond 64 bits
	}
	return value
}

// number is a value of Int between 0 and ceiling, 0 for what is none.
func number(v any) int {
	var n int64
	switch v := v.(type) {
	case int:
		n = int64(v)
	case int64:
		n = v
	case json.Number:
		n, _ = v.Int64()
	}
	return int(min(max(n, 0), ceiling))
}

// spending is what an answer tells of the cost of its operation.
type spending struct {
	Used  int `json:"used"`
	Limit int `json:"limit"`
	// Left is what the caller may still spend now, of Capacity; PerSecond comes back.
	Left      *int `json:"left,omitempty"`
	Capacity  int  `json:"capacity,omitempty"`
	PerSecond int  `json:"perSecond,omitempty"`
}

const spendingKey = "cost"

// receipts tells the cost of queries and mutations in their answers' extensions. A subscription's
// events do without: it was paid for when it began.
type receipts struct{}

func (receipts) ExtensionName() string                   { return "Receipts" }
func (receipts) Validate(graphql.ExecutableSchema) error { return nil }

func (receipts) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	resp := next(ctx)
	if resp == nil || !graphql.HasOperationContext(ctx) {
		return resp
	}
	op := graphql.GetOperationContext(ctx)
	spent, ok := op.Stats.GetExtension(spendingKey).(spending)
	if !ok || op.Operation.Operation == ast.Subscription {
		return resp
	}
	if resp.Extensions == nil {
		resp.Extensions = map[string]any{}
	}
	resp.Extensions[spendingKey] = spent
	return resp
}
