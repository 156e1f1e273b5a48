package gqlhttp

import (
	"context"
	"encoding/json"
	"math"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// standardPage is how many items a page has that is asked for without first and last.
const standardPage = 50

// ceiling is the highest cost that is told from higher ones. Two of them multiply without overflow.
const ceiling = math.MaxInt32

// bill adds up what an operation costs.
type bill struct{ variables map[string]any }

// total is what the operation costs, at most ceiling. An abstract type costs what its fragments cost
// together, though each object answers for one of them.
func (b bill) total(op *ast.OperationDefinition) int {
	return b.selections(op.SelectionSet, parent{mutating: op.Operation == ast.Mutation})
}

// parent is what decides on the cost of the fields right below it.
type parent struct {
	mutating bool
	// page is how many edges or nodes a connection may answer with; for others it is 0.
	page int
}

func (b bill) selections(set ast.SelectionSet, below parent) int {
	sum := 0
	for _, selection := range set {
		if b.skips(selection) {
			continue
		}
		switch node := selection.(type) {
		case *ast.Field:
			sum += b.field(node, below)
		case *ast.InlineFragment:
			sum += b.selections(node.SelectionSet, below)
		case *ast.FragmentSpread:
			sum += b.selections(node.Definition.SelectionSet, below)
		}
		sum = min(sum, ceiling)
	}
	return sum
}

func (b bill) field(f *ast.Field, below parent) int {
	own := 0
	switch {
	case below.mutating && f.Name != "__typename":
		own = 10
	case len(f.SelectionSet) > 0:
		own = 1
	}
	if introspects(f) {
		return own
	}
	switch size := b.page(f); {
	case size == 0:
		own += b.selections(f.SelectionSet, parent{})
	case f.Definition.Type.Elem != nil:
		own += size * b.selections(f.SelectionSet, parent{})
	default:
		own += b.selections(f.SelectionSet, parent{page: size})
	}
	if below.page > 0 && (f.Name == "edges" || f.Name == "nodes") {
		own = min(own, ceiling) * below.page
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

// page is how many items the field may answer with, 0 for one without pages. Of first and last the larger one counts;
// that only one of them may be given is not judged here.
func (b bill) page(f *ast.Field) int {
	declared := f.Definition.Arguments
	if declared.ForName("ids") != nil && f.Definition.Type.Elem != nil {
		ids, _ := b.argument(f.Arguments, "ids").([]any)
		return max(len(ids), 1)
	}
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
