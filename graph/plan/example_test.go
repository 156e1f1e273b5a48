package plan_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/graph/plan"
)

var librarySchema = gqlparser.MustLoadSchema(&ast.Source{Input: `
	type Query  { shelves: [[Item!]]  titles: [String!]! }
	union Item = Book | Author
	type Book   { title: String!  author(role: String!): Author! }
	type Author { name: String!  books: [Book!]! }
`})

// library is what the fields of Query are resolved from.
type library struct {
	shelves [][]any
	titles  []*string
}

type book struct {
	title  string
	author func(ctx context.Context, role string) (*author, error)
}

type author struct {
	name  string
	books []*book
}

// newExecutor returns an executor of a library's schema, with a table like those that the plugin writes.
func newExecutor(l library, o plan.Options) *executor.Executor {
	queryType := &plan.Object{Name: "Query", Satisfies: []string{"Query"}}
	bookType := &plan.Object{Name: "Book", Satisfies: []string{"Book", "Item"}}
	authorType := &plan.Object{Name: "Author", Satisfies: []string{"Author", "Item"}}

	writeString := func(w *plan.Writer, _ *plan.Node, v *string) bool {
		b := w.Bytes()
		if v != nil {
			b = plan.AppendString(b, *v)
		}
		return w.Appended(b, true)
	}
	writeBook := func(w *plan.Writer, n *plan.Node, v *book) bool { return w.Object(n, bookType, v) }
	writeAuthor := func(w *plan.Writer, n *plan.Node, v *author) bool {
		if v == nil {
			return w.Null()
		}
		return w.Object(n, authorType, v)
	}
	writeItem := func(w *plan.Writer, n *plan.Node, v any) bool {
		switch v := v.(type) {
		case nil:
			return w.Null()
		case *book:
			return writeBook(w, n, v)
		case *author:
			return writeAuthor(w, n, v)
		default:
			panic(fmt.Errorf("unexpected type %T", v))
		}
	}
	writeShelf := func(w *plan.Writer, n *plan.Node, v []any) bool {
		return v != nil && plan.List(w, n, v, true, writeItem)
	}

	queryType.Fields = map[string]*plan.Field{
		"shelves": {Object: "Query", Write: func(w *plan.Writer, n *plan.Node, _ any) bool {
			v := w.State.(library).shelves
			return w.Begin() && w.Resolved(v) && plan.List(w, n, v, false, writeShelf)
		}},
		"titles": {Object: "Query", NonNull: true, Write: func(w *plan.Writer, n *plan.Node, _ any) bool {
			v := w.State.(library).titles
			return w.Resolved(v) && plan.Scalars(w, n, v, true, writeString)
		}},
	}
	bookType.Fields = map[string]*plan.Field{
		"title": {Object: "Book", NonNull: true, Write: func(w *plan.Writer, n *plan.Node, parent any) bool {
			v := &parent.(*book).title
			return w.Text(plan.Length(v)) && writeString(w, n, v)
		}},
		"author": {Object: "Book", NonNull: true, Concurrent: true, IsMethod: true, Write: func(w *plan.Writer, n *plan.Node, parent any) bool {
			arguments, ok := w.Arguments(n, func(_ context.Context, raw map[string]any) (map[string]any, error) {
				role, err := graphql.UnmarshalString(raw["role"])
				return map[string]any{"role": role}, err
			})
			if !ok || !w.Begin() {
				return false
			}
			v, err := parent.(*book).author(w.Context(), arguments.Args["role"].(string))
			if err != nil {
				return w.Fail(err)
			}
			return w.Resolved(v) && writeAuthor(w, n, v)
		}},
	}
	authorType.Fields = map[string]*plan.Field{
		"name": {Object: "Author", NonNull: true, Write: func(w *plan.Writer, n *plan.Node, parent any) bool {
			v := &parent.(*author).name
			return w.Text(plan.Length(v)) && writeString(w, n, v)
		}},
		"books": {Object: "Author", NonNull: true, Write: func(w *plan.Writer, n *plan.Node, parent any) bool {
			v := parent.(*author).books
			return w.Begin() && w.Resolved(v) && plan.List(w, n, v, true, writeBook)
		}},
	}

	e := executor.New(plan.NewSchema(librarySchema, o, plan.Generated{State: l, Query: queryType}))
	e.SetRecoverFunc(func(_ context.Context, value any) error { return fmt.Errorf("panic: %v", value) })
	return e
}

// execute returns the data of the answer to a document and, each in a line, its errors.
func execute(ctx context.Context, e *executor.Executor, document string, variables map[string]any) string {
	ctx = graphql.StartOperationTrace(ctx)
	operation, errs := e.CreateOperationContext(ctx, &graphql.RawParams{Query: document, Variables: variables})
	if errs != nil {
		return errs.Error()
	}
	operation.DisableIntrospection = false
	return respond(ctx, e, operation)
}

// respond returns the same of an operation.
func respond(ctx context.Context, e *executor.Executor, operation *graphql.OperationContext) string {
	next, ctx := e.DispatchOperation(ctx, operation)
	response := next(ctx)
	lines := make([]string, len(response.Errors))
	for i, err := range response.Errors {
		lines[i] = "\n" + err.Error()
	}
	slices.Sort(lines) // siblings fail in any order
	return string(response.Data) + strings.Join(lines, "")
}

// A shelf has a book and the bust of an author.
func Example() {
	emma := &book{"Emma", func(_ context.Context, role string) (*author, error) { return &author{name: "Austen, " + role}, nil }}
	e := newExecutor(library{shelves: [][]any{{emma, &author{name: "Woolf"}}}}, plan.Options{})
	fmt.Println(execute(context.Background(), e, `
		query($role: String!) { shelves { ...by ... on Book { title author(role: $role) { ...by } } } }
		fragment by on Author { name }`, map[string]any{"role": "text"}))
	// Output: {"shelves":[[{"title":"Emma","author":{"name":"Austen, text"}},{"name":"Woolf"}]]}
}
