// Package document has all that comes before an operation is executed: whether its document is valid and within its
// limits, its variables as values of their types, and what it costs.
//
// A text is looked at in stages, each of which bounds the work of the next. Its tokens are counted before it is parsed,
// what it selects with its fragments put in place before it is validated, and what it asks of the schema and of single
// variables after that. Valid documents are kept; variables and cost are those of each request.
package document

import (
	"cmp"
	"strings"

	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator/core"

	"slipway/internal/edge/gqlhttp/wire"
)

// Config configures Documents.
type Config struct {
	// Introspection lets callers ask for the schema. Without it errors do not suggest names either.
	Introspection bool
	// Kept is how many documents stay parsed and validated; 0 stands for 1,000.
	Kept int
	// Scalars are the checks of the schema's own scalars, by their names.
	Scalars map[string]Check
	// Limits bound each document and each operation.
	Limits Limits
	// Prepare, if it is not nil, makes of an operation of a document what its executor asks for each time that it is
	// executed.
	Prepare func(*ast.QueryDocument, *ast.OperationDefinition) any
}

// Documents parses and validates documents, keeps those that are valid, and coerces their variables.
type Documents struct {
	schema *ast.Schema
	limits Limits
	// rules are what documents are validated by; rulesWithoutSuggestions are the same for documents of long names.
	rules, rulesWithoutSuggestions []core.Rule
	scalars                        checks
	// withTypename are the input types that may have a __typename.
	withTypename  map[string]bool
	deprecations  deprecations
	introspection bool
	prepare       func(*ast.QueryDocument, *ast.OperationDefinition) any
	kept          *cache
}

// New returns the documents of a schema, of which the cache is empty.
func New(schema *ast.Schema, c Config) *Documents {
	c.Limits = c.Limits.WithDefaults()
	withTypename := typenameInputs(schema, c.Limits.FreeInputs)
	standard := StandardSchema(schema)
	return &Documents{
		schema:                  standard,
		limits:                  c.Limits,
		rules:                   rulesOf(c, withTypename, c.Introspection),
		rulesWithoutSuggestions: rulesOf(c, withTypename, false),
		scalars:                 c.Scalars,
		withTypename:            withTypename,
		deprecations:            deprecationsOf(standard),
		introspection:           c.Introspection,
		prepare:                 c.Prepare,
		kept:                    newCache(cmp.Or(c.Kept, 1000)),
	}
}

// Document is a valid document.
type Document struct {
	*ast.QueryDocument
	// Executable is the document for an executor that would coerce variables once more: its operations declare none.
	Executable *ast.QueryDocument
	variableUses
	literalNodes
	tokens int
	// introspection is how many values of the schema each operation asks for.
	introspection map[*ast.OperationDefinition]int
	// deprecated is what is deprecated of what each operation asks for.
	deprecated map[*ast.OperationDefinition][]Deprecation
	// prepared is what Config.Prepare has made of each operation.
	prepared map[*ast.OperationDefinition]any
}

// Prepared returns what Config.Prepare has made of an operation, nil without one.
func (d *Document) Prepared(op *ast.OperationDefinition) any { return d.prepared[op] }

// Bytes returns about the most memory that the document takes, as measured on documents of fields alone.
func (d *Document) Bytes() int { return 400*d.tokens + 2*len(d.Position.Src.Input) }

// Get returns the document of a text, from the cache if it is there, or all that is wrong with it.
func (d *Documents) Get(text string) (*Document, gqlerror.List) {
	if doc, ok := d.kept.get(text); ok {
		return doc, nil
	}
	doc, errs := d.Parse(text)
	if errs == nil {
		d.kept.add(text, doc)
	}
	return doc, errs
}

// prepared returns what Config.Prepare makes of the operations of a document.
func (d *Documents) prepared(doc *ast.QueryDocument) map[*ast.OperationDefinition]any {
	if d.prepare == nil {
		return nil
	}
	prepared := make(map[*ast.OperationDefinition]any, len(doc.Operations))
	for _, op := range doc.Operations {
		prepared[op] = d.prepare(doc, op)
	}
	return prepared
}

// Parse returns the document of a text without a look at the cache, or all that is wrong with it.
func (d *Documents) Parse(text string) (*Document, gqlerror.List) {
	scanned, refused := d.limits.scan(text)
	if refused != nil {
		return nil, gqlerror.List{refused}
	}

	parsed, err := parser.ParseQuery(&ast.Source{Input: text})
	if failed := scanned.syntaxError(parsed, err); failed != nil {
		return nil, withCode(errcode.ParseFailed, failed)
	}
	if len(parsed.Operations) == 0 {
		return nil, withCode(errcode.ValidationFailed, gqlerror.Errorf("The document has no operation."))
	}

	isCyclic, refused := d.limits.checkSize(parsed)
	if refused != nil {
		return nil, gqlerror.List{refused}
	}
	if errs := d.validate(parsed, scanned.longestName, isCyclic); len(errs) > 0 {
		return nil, withCode(errcode.ValidationFailed, errs...)
	}

	introspection, refused := d.limits.checkIntrospection(d.schema, parsed)
	if refused != nil {
		return nil, gqlerror.List{refused}
	}
	uses, refused := d.variableUses(parsed)
	if refused != nil {
		return nil, gqlerror.List{refused}
	}

	deprecated := d.deprecated(parsed) // before literals are lifted out of it
	nodes := d.lift(parsed)
	return &Document{
		parsed, executable(parsed), uses, nodes, scanned.tokens, introspection, deprecated, d.prepared(parsed),
	}, nil
}

// executable returns a document without the declarations of variables.
func executable(doc *ast.QueryDocument) *ast.QueryDocument {
	without := *doc
	without.Operations = make(ast.OperationList, len(doc.Operations))
	for i, op := range doc.Operations {
		undeclared := *op
		undeclared.VariableDefinitions = nil
		without.Operations[i] = &undeclared
	}
	return &without
}

func withCode(code string, errs ...*gqlerror.Error) gqlerror.List {
	for _, e := range errs {
		errcode.Set(e, code)
	}
	return errs
}

// Operation returns the operation of a name, which may be left out where there is one alone.
func (d *Document) Operation(name string) (*ast.OperationDefinition, *gqlerror.Error) {
	if op := d.Operations.ForName(name); op != nil {
		return op, nil
	}
	var known []string
	for _, op := range d.Operations {
		known = append(known, cmp.Or(op.Name, "one without a name"))
	}
	err := gqlerror.Errorf("operationName must name one of the document's operations (%s); found %q.",
		strings.Join(known, ", "), wire.Shorten(name))
	errcode.Set(err, errcode.ValidationFailed)
	return nil, err
}
