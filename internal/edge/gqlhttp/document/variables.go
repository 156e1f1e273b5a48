package document

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/edge/gqlhttp/wire"
)

// maxVariableErrors is how many wrong values are reported one by one.
const maxVariableErrors = 100

// Coerce returns the variables of the operation as values of their types, or all that is wrong with
// them. raw has a *strictjson.Node for each. Variables that the operation does not declare are left out, and
// absent ones have their default or stay absent. Values of custom scalars and of FreeInputs are the *strictjson.Node
// that was given; the literals of them that the document has are among the variables too, under names of their own.
func (d *Documents) Coerce(
	doc *Document, op *ast.OperationDefinition, raw map[string]any,
) (map[string]any, gqlerror.List) {
	c := coercion{Documents: d}
	values := make(map[string]any, len(op.VariableDefinitions)+len(doc.lifted))

	for _, def := range op.VariableDefinitions {
		c.def, c.path = def, ast.Path{ast.PathName("variable"), ast.PathName(def.Variable)}
		given, ok := raw[def.Variable].(*strictjson.Node)
		used := doc.nonNull[def]
		c.isDefault = !ok
		isNull := ok && given.Kind == strictjson.Null ||
			!ok && def.DefaultValue != nil && def.DefaultValue.Kind == ast.NullValue

		switch {
		case !ok && def.DefaultValue == nil && def.Type.NonNull:
			c.fail("must be given, as %s", def.Type)
		case used != nil && isNull:
			c.fail("must not be null, for it is used where %s is expected", used)
		case ok:
			values[def.Variable] = c.value(def.Type, given)
		case def.DefaultValue != nil:
			values[def.Variable] = c.value(def.Type, doc.defaults[def])
		}
	}

	if c.more > 0 {
		rest := fault.New(fault.DocumentVariablesInvalid, "%d more values of variables are wrong.", c.more)
		at := op.VariableDefinitions[0].Position
		c.errs = append(c.errs, wire.RequestError(rest, ast.Path{ast.PathName("variable")}, at))
	}
	if c.errs == nil {
		variable := func(name string) *strictjson.Node {
			return c.inLiteral(doc, op.VariableDefinitions.ForName(name), raw)
		}
		c.errs = d.checkLiterals(doc.literals[op], variable)
		doc.lifted.addTo(values, variable)
	}

	return values, c.errs
}

// coercion walks a variable along its type. Its values are of use only when errs is empty.
type coercion struct {
	*Documents
	// free is how many values of FreeInputs the walk is inside of: they may nest freely, and are only checked.
	free int
	// isDefault is set for the default of a variable, which is as deep as a document may be.
	isDefault bool
	def       *ast.VariableDefinition
	path      ast.Path
	errs      gqlerror.List
	// more is how many errors there are beyond maxVariableErrors.
	more int
}

func (c *coercion) value(t *ast.Type, v *strictjson.Node) any {
	if v.Kind == strictjson.Null {
		if t.NonNull {
			c.fail("must be %s, found null", t)
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
			c.object(def, v)
			c.free--
			return v
		}
		return c.object(def, v)
	case ast.Enum:
		return c.enum(def, v)
	default:
		return c.scalar(def.Name, v)
	}
}

// list coerces a list. A single value stands for a list of one.
func (c *coercion) list(elem *ast.Type, v *strictjson.Node) any {
	if v.Kind != strictjson.Array {
		return []any{c.value(elem, v)}
	}
	if c.tooDeep() {
		return nil
	}
	var values []any
	if c.free == 0 {
		values = make([]any, 0, len(v.Items))
	}
	for i, item := range v.Items {
		if value := c.child(ast.PathIndex(i), elem, item); c.free == 0 {
			values = append(values, value)
		}
	}
	return values
}

func (c *coercion) object(def *ast.Definition, v *strictjson.Node) any {
	if v.Kind != strictjson.Object {
		c.fail("must be an object of %s, found %s", def.Name, describe(v))
		return nil
	}
	if c.tooDeep() {
		return nil
	}

	c.checkKeys(def, v)
	if def.Directives.ForName("oneOf") != nil {
		c.checkOneOf(def, v)
	}

	var values map[string]any
	if c.free == 0 {
		values = make(map[string]any, len(v.Keys))
	}

	for _, field := range def.Fields {
		if item := v.Get(field.Name); item != nil {
			if value := c.child(ast.PathName(field.Name), field.Type, item); c.free == 0 {
				values[field.Name] = value
			}
		} else if field.Type.NonNull && field.DefaultValue == nil {
			c.failChild(ast.PathName(field.Name), "must be given, as %s", field.Type)
		}
	}

	return values
}

// tooDeep refuses a list or an object that is further down than the limit. The path starts with the
// word variable and a name.
func (c *coercion) tooDeep() bool {
	level := len(c.path) - 1
	if c.free > 0 || c.isDefault || level <= c.limits.VariableDepth {
		return false
	}
	l := limit{"variableDepth", c.limits.VariableDepth, "levels of lists and objects"}
	c.add(l.exceeded(variableAt(c.path), level))
	return true
}

func (c *coercion) checkKeys(def *ast.Definition, given *strictjson.Node) {
	var unknown []string
	for _, name := range given.Keys {
		if name == typenameField && c.withTypename[def.Name] {
			c.checkTypename(def, given.Get(name))
		} else if def.Fields.ForName(name) == nil {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		c.failChild(ast.PathName(wire.Shorten(name)),
			"is not a field of %s%s", def.Name, c.hint("; the fields are ", fieldNames(def)))
	}
}

// checkTypename checks a __typename, which is then left out.
func (c *coercion) checkTypename(def *ast.Definition, v *strictjson.Node) {
	if v.Kind != strictjson.String || v.Text != typeWritten(def) {
		what := describe(v)
		if v.Kind == strictjson.String {
			what = strconv.Quote(wire.Shorten(v.Text))
		}
		c.failChild(ast.PathName(typenameField),
			"must be %q in an object of %s, or be left out, found %s", typeWritten(def), def.Name, what)
	}
}

func (c *coercion) checkOneOf(def *ast.Definition, given *strictjson.Node) {
	if len(given.Keys) != 1 {
		c.fail("must have exactly one field of %s, found %d%s",
			def.Name, len(given.Keys), c.hint("; the fields are ", fieldNames(def)))
		return
	}
	if given.Items[0].Kind == strictjson.Null {
		c.failChild(ast.PathName(wire.Shorten(given.Keys[0])), "must not be null, for it is the one field of %s", def.Name)
	}
}

func fieldNames(def *ast.Definition) []string {
	var names []string
	for _, field := range def.Fields {
		names = append(names, field.Name)
	}
	return names
}

// hint lists names for callers who may know them.
func (c *coercion) hint(lead string, names []string) string {
	if !c.introspection {
		return ""
	}
	return lead + strings.Join(names, ", ")
}

// child coerces a value one level further down.
func (c *coercion) child(elem ast.PathElement, t *ast.Type, v *strictjson.Node) any {
	c.path = append(c.path, elem)
	defer func() { c.path = c.path[:len(c.path)-1] }()
	return c.value(t, v)
}

func (c *coercion) failChild(elem ast.PathElement, format string, args ...any) {
	c.path = append(c.path, elem)
	c.fail(format, args...)
	c.path = c.path[:len(c.path)-1]
}

func (c *coercion) fail(format string, args ...any) {
	if len(c.errs) == maxVariableErrors { // the text of one that is only counted would be work for nothing
		c.more++
		return
	}
	c.add(fault.New(fault.DocumentVariablesInvalid, "%s %s.", variableAt(c.path), fmt.Sprintf(format, args...)))
}

func (c *coercion) add(err *fault.Error) {
	if len(c.errs) == maxVariableErrors {
		c.more++
		return
	}
	c.errs = append(c.errs, wire.RequestError(err, slices.Clone(c.path), c.def.Position))
}
