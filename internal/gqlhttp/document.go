package gqlhttp

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// documents parses and validates documents, and keeps those that are valid.
type documents struct {
	schema        *ast.Schema
	rules         *rules.Rules
	introspection bool
	kept          *cache
}

func newDocuments(schema *ast.Schema, c Config) *documents {
	return &documents{
		schema:        schema,
		rules:         strictRules(c.Introspection),
		introspection: c.Introspection,
		kept:          &cache{size: max(cmp.Or(c.Documents, 1000)/2, 1)},
	}
}

// document is a valid document, and what its operations ask of their variables beyond their types.
type document struct {
	*ast.QueryDocument
	// needed are the variables whose own type allows null where a place that they are used at does
	// not, with the type of that place. A default lets such a document pass validation.
	needed map[*ast.VariableDefinition]*ast.Type
}

func (d *documents) get(text string) (*document, gqlerror.List) {
	if doc, ok := d.kept.get(text); ok {
		return doc, nil
	}
	parsed, err := parser.ParseQuery(&ast.Source{Input: text})
	if err != nil {
		return nil, coded(errcode.ParseFailed, gqlError(err))
	}
	if len(parsed.Operations) == 0 {
		return nil, coded(errcode.ValidationFailed, gqlerror.Errorf("The document has no operation."))
	}
	if errs := validator.ValidateWithRules(d.schema, parsed, d.rules); len(errs) > 0 {
		return nil, coded(errcode.ValidationFailed, errs...)
	}
	doc := &document{parsed, needed(d.schema, parsed)}
	d.kept.add(text, doc)
	return doc, nil
}

func gqlError(err error) *gqlerror.Error {
	if e, ok := errors.AsType[*gqlerror.Error](err); ok {
		return e
	}
	return gqlerror.Wrap(err)
}

func coded(code string, errs ...*gqlerror.Error) gqlerror.List {
	for _, e := range errs {
		errcode.Set(e, code)
	}
	return errs
}

func needed(schema *ast.Schema, doc *ast.QueryDocument) map[*ast.VariableDefinition]*ast.Type {
	found := map[*ast.VariableDefinition]*ast.Type{}
	var events validator.Events
	events.OnValue(func(_ *validator.Walker, v *ast.Value) {
		def := v.VariableDefinition
		if def != nil && !def.Type.NonNull && v.ExpectedType != nil && v.ExpectedType.NonNull {
			found[def] = v.ExpectedType
		}
	})
	validator.Walk(schema, doc, &events)
	return found
}

// operation chooses the operation to run.
func (d *document) operation(name string) (*ast.OperationDefinition, *gqlerror.Error) {
	if op := d.Operations.ForName(name); op != nil {
		return op, nil
	}
	var known []string
	for _, op := range d.Operations {
		known = append(known, cmp.Or(op.Name, "one without a name"))
	}
	err := gqlerror.Errorf("operationName must name one of the document's operations (%s); found %q.",
		strings.Join(known, ", "), shorten(name))
	errcode.Set(err, errcode.ValidationFailed)
	return nil, err
}

type documentKey struct{}

// handover gives gqlgen's executor the document that came with the context, in place of its own cache.
type handover struct{}

// Get implements graphql.Cache.
func (handover) Get(ctx context.Context, _ string) (*ast.QueryDocument, bool) {
	doc, ok := ctx.Value(documentKey{}).(*document)
	if !ok {
		return nil, false
	}
	return doc.QueryDocument, true
}

// Add implements graphql.Cache: there is nothing to keep.
func (handover) Add(context.Context, string, *ast.QueryDocument) {}
