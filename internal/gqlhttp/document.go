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
	"github.com/vektah/gqlparser/v2/validator/core"
)

// documents parses and validates documents, and keeps those that are valid.
type documents struct {
	schema *ast.Schema
	limits Limits
	// rules are what documents are judged by; mute are the same without suggestions.
	rules, mute []core.Rule
	scalars     checks
	// echoed are the input types that may have a __typename.
	echoed        map[string]bool
	introspection bool
	kept          *cache
}

func newDocuments(schema *ast.Schema, c Config) *documents {
	echoed := echoedInputs(schema, c.Limits.FreeInputs)
	return &documents{
		schema:        Standard(schema),
		limits:        c.Limits,
		rules:         strictRules(c, echoed, c.Introspection),
		mute:          strictRules(c, echoed, false),
		scalars:       c.Scalars,
		echoed:        echoed,
		introspection: c.Introspection,
		kept:          &cache{size: max(cmp.Or(c.Documents, 1000)/2, 1)},
	}
}

// document is a valid document.
type document struct {
	*ast.QueryDocument
	demands
	tokens int
	// told are how many values of the schema each operation asks for.
	told map[*ast.OperationDefinition]int
}

// bytes is about the most memory that the document takes, as measured on documents of fields alone.
func (d *document) bytes() int { return 400*d.tokens + 2*len(d.Position.Src.Input) }

func (d *documents) get(text string) (*document, gqlerror.List) {
	if doc, ok := d.kept.get(text); ok {
		return doc, nil
	}
	extent, refused := d.limits.scan(text)
	if refused != nil {
		return nil, gqlerror.List{refused}
	}
	parsed, err := parser.ParseQuery(&ast.Source{Input: text})
	if failed := extent.syntax(parsed, err); failed != nil {
		return nil, coded(errcode.ParseFailed, failed)
	}
	if len(parsed.Operations) == 0 {
		return nil, coded(errcode.ValidationFailed, gqlerror.Errorf("The document has no operation."))
	}
	cyclic, refused := d.limits.measure(parsed)
	if refused != nil {
		return nil, gqlerror.List{refused}
	}
	if errs := d.validate(parsed, extent.longest, cyclic); len(errs) > 0 {
		return nil, coded(errcode.ValidationFailed, errs...)
	}
	told, refused := d.limits.tell(d.schema, parsed)
	if refused != nil {
		return nil, gqlerror.List{refused}
	}
	asked, refused := d.demands(parsed)
	if refused != nil {
		return nil, gqlerror.List{refused}
	}
	doc := &document{parsed, asked, extent.tokens, told}
	d.kept.add(text, doc)
	return doc, nil
}

// maxTypo is the longest name, in bytes, that others like it are looked for.
const maxTypo = 40

// validate gives what the rules have against the document. Fields of fragments that spread themselves
// cannot be merged, and need not be: the document is refused.
func (d *documents) validate(doc *ast.QueryDocument, longest int, cyclic bool) gqlerror.List {
	list := d.rules
	if longest > maxTypo {
		list = d.mute
	}
	var v verdict
	var events validator.Events
	for _, rule := range list {
		if cyclic && rule.Name == fieldsMerge {
			continue
		}
		rule.RuleFunc(&events, func(options ...core.ErrorOption) { v.add(rule.Name, options) })
	}
	func() {
		defer v.end()
		validator.Walk(d.schema, doc, &events)
	}()
	return v.errs
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
