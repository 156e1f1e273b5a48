package document

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"slipway/internal/fault"
	"slipway/internal/gqlhttp/wire"
	"slipway/internal/inputprop"
)

// maxWrong is how many wrong values are told one by one.
const maxWrong = 100

// Coerce returns the variables of the operation as values of their types, or all that is wrong with
// them. raw has a *inputprop.Node for each. Variables that the operation does not declare are left out, and
// absent ones stay absent.
func (d *Documents) Coerce(doc *Document, op *ast.OperationDefinition, raw map[string]any) (map[string]any, gqlerror.List) {
	c := coercion{schema: d.schema, scalars: d.scalars, limits: d.limits, withTypename: d.withTypename, open: d.introspection}
	values := make(map[string]any, len(op.VariableDefinitions))
	for _, def := range op.VariableDefinitions {
		c.def, c.path = def, ast.Path{ast.PathName("variable"), ast.PathName(def.Variable)}
		given, ok := raw[def.Variable].(*inputprop.Node)
		used := doc.nonNull[def]
		switch {
		case !ok && def.DefaultValue == nil && def.Type.NonNull:
			c.wrong("must be given, as %s", def.Type)
		case used != nil && (ok && given.Kind == inputprop.Null || !ok && def.DefaultValue != nil && def.DefaultValue.Kind == ast.NullValue):
			c.wrong("must not be null, for it is used where %s is expected", used)
		case ok:
			values[def.Variable] = c.value(def.Type, given)
		}
	}
	if c.more > 0 {
		rest := fault.New(fault.DocumentVariablesInvalid, "%d more values of variables are wrong.", c.more)
		c.errs = append(c.errs, wire.RequestError(rest, ast.Path{ast.PathName("variable")}, op.VariableDefinitions[0].Position))
	}
	if c.errs == nil {
		c.errs = d.checkLiterals(doc.literals[op], values)
	}
	return values, c.errs
}

// coercion walks a variable along its type. What it gives is of use only when errs is empty.
type coercion struct {
	schema       *ast.Schema
	scalars      checks
	limits       Limits
	withTypename map[string]bool
	// free is how many values of types that may nest freely the walk is inside of.
	free int
	// open is whether fields and enum values may be told.
	open bool
	def  *ast.VariableDefinition
	path ast.Path
	errs gqlerror.List
	more int
}

func (c *coercion) value(t *ast.Type, v *inputprop.Node) any {
	if v.Kind == inputprop.Null {
		if t.NonNull {
			c.wrong("must be %s, found null", t)
		}
		return nil
	}
	if t.Elem != nil {
		return c.list(t.Elem, v)
	}
	switch def := c.schema.Types[t.NamedType]; def.Kind {
	case ast.InputObject:
		if slices.Contains(c.limits.FreeInputs, def.Name) {
			c.free++
			defer func() { c.free-- }()
		}
		return c.object(def, v)
	case ast.Enum:
		return c.enum(def, v)
	default:
		return c.scalar(def.Name, v)
	}
}

// list takes a single value for a list of one.
func (c *coercion) list(elem *ast.Type, v *inputprop.Node) any {
	if v.Kind != inputprop.Array {
		return []any{c.value(elem, v)}
	}
	if c.tooDeep() {
		return nil
	}
	values := make([]any, len(v.Items))
	for i, item := range v.Items {
		values[i] = c.in(ast.PathIndex(i), elem, item)
	}
	return values
}

func (c *coercion) object(def *ast.Definition, v *inputprop.Node) any {
	if v.Kind != inputprop.Object {
		c.wrong("must be an object of %s, found %s", def.Name, found(v))
		return nil
	}
	if c.tooDeep() {
		return nil
	}
	c.unknown(def, v)
	if def.Directives.ForName("oneOf") != nil {
		c.oneOf(def, v)
	}
	values := make(map[string]any, len(v.Keys))
	for _, field := range def.Fields {
		if item := v.Get(field.Name); item != nil {
			values[field.Name] = c.in(ast.PathName(field.Name), field.Type, item)
		} else if field.Type.NonNull && field.DefaultValue == nil {
			c.wrongIn(ast.PathName(field.Name), "must be given, as %s", field.Type)
		}
	}
	return values
}

// tooDeep refuses a list or an object that is further down than the limit. The path starts with the
// word variable and a name.
func (c *coercion) tooDeep() bool {
	level := len(c.path) - 1
	if c.free > 0 || level <= c.limits.VariableDepth {
		return false
	}
	l := limit{"variableDepth", c.limits.VariableDepth, "levels of lists and objects"}
	c.add(l.exceeded(variable(c.path), level))
	return true
}

func (c *coercion) unknown(def *ast.Definition, given *inputprop.Node) {
	var unknown []string
	for _, name := range given.Keys {
		if name == typenameField && c.withTypename[def.Name] {
			c.typename(def, given.Get(name))
		} else if def.Fields.ForName(name) == nil {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		c.wrongIn(ast.PathName(wire.Shorten(name)), "is not a field of %s%s", def.Name, c.names("; the fields are ", fieldNames(def)))
	}
}

// typename checks a __typename, which is then left out.
func (c *coercion) typename(def *ast.Definition, v *inputprop.Node) {
	if v.Kind != inputprop.String || v.Text != typeWritten(def) {
		what := found(v)
		if v.Kind == inputprop.String {
			what = strconv.Quote(wire.Shorten(v.Text))
		}
		c.wrongIn(ast.PathName(typenameField), "must be %q in an object of %s, or be left out, found %s", typeWritten(def), def.Name, what)
	}
}

func (c *coercion) oneOf(def *ast.Definition, given *inputprop.Node) {
	if len(given.Keys) != 1 {
		c.wrong("must have exactly one field of %s, found %d%s", def.Name, len(given.Keys), c.names("; the fields are ", fieldNames(def)))
		return
	}
	if given.Items[0].Kind == inputprop.Null {
		c.wrongIn(ast.PathName(wire.Shorten(given.Keys[0])), "must not be null, for it is the one field of %s", def.Name)
	}
}

func fieldNames(def *ast.Definition) []string {
	var names []string
	for _, field := range def.Fields {
		names = append(names, field.Name)
	}
	return names
}

// names lists names for callers who may know them.
func (c *coercion) names(lead string, names []string) string {
	if !c.open {
		return ""
	}
	return lead + strings.Join(names, ", ")
}

// in coerces a value one level further down.
func (c *coercion) in(elem ast.PathElement, t *ast.Type, v *inputprop.Node) any {
	c.path = append(c.path, elem)
	defer func() { c.path = c.path[:len(c.path)-1] }()
	return c.value(t, v)
}

func (c *coercion) wrongIn(elem ast.PathElement, format string, args ...any) {
	c.path = append(c.path, elem)
	c.wrong(format, args...)
	c.path = c.path[:len(c.path)-1]
}

func (c *coercion) wrong(format string, args ...any) {
	if len(c.errs) == maxWrong { // the text of one that is only counted would be work for nothing
		c.more++
		return
	}
	c.add(fault.New(fault.DocumentVariablesInvalid, "%s %s.", variable(c.path), fmt.Sprintf(format, args...)))
}

func (c *coercion) add(err *fault.Error) {
	if len(c.errs) == maxWrong {
		c.more++
		return
	}
	c.errs = append(c.errs, wire.RequestError(err, slices.Clone(c.path), c.def.Position))
}
