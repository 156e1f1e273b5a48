package gqlhttp

import (
	"errors"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/core"

	"slipway/internal/fault"
)

// Check judges a value of a custom scalar before anything runs. The value is never null; it has the Go
// types of JSON with json.Number, an strictjson.Node for an array or an object of a variable, or the types of
// ast.Value and EnumLiteral where the document has it. The
// error reads on from the name of the value, such as "must be a date, found a list".
type Check func(value any) error

// EnumLiteral is a name in a document where a custom scalar is expected.
type EnumLiteral string

var errWide = errors.New("must have no number that 64 bits cannot hold; numbers of variables keep their digits")

// checks are those of a schema's scalars, by their names. Scalars without one take any value.
type checks map[string]Check

// of gives the check of a literal, nil where there is none. Variables are checked by their own types.
func (c checks) of(v *ast.Value) Check {
	if v.Definition == nil || v.ExpectedType == nil || v.Kind == ast.Variable || v.Kind == ast.NullValue {
		return nil
	}
	if v.Kind == ast.ListValue && v.ExpectedType.Elem != nil {
		return nil // its items are checked
	}
	return c[v.Definition.Name]
}

func (c Check) literal(v *ast.Value, variables map[string]any) error {
	value, wide := v.Value(variables)
	if v.Kind == ast.EnumValue {
		value = EnumLiteral(v.Raw)
	}
	if err := c(value); err != nil {
		return err
	}
	if wide != nil {
		return errWide
	}
	return nil
}

func (c checks) rule() core.Rule {
	return core.Rule{Name: "CustomScalars", RuleFunc: func(o *core.Events, refuse core.AddErrFunc) {
		o.OnValue(func(_ *core.Walker, v *ast.Value) {
			check := c.of(v)
			if check == nil {
				return
			}
			blank := map[string]any{}
			for _, name := range variablesIn(v) {
				blank[name] = nil
			}
			if err := check.literal(v, blank); err != nil {
				refuse(core.Message("The value %s.", err), core.At(v.Position))
			}
		})
	}}
}

// demands are what operations ask of their variables beyond their types.
type demands struct {
	// filled are the variables whose own type allows null where a place that they are used at does not,
	// with the type of that place. A default lets such a document pass validation.
	filled map[*ast.VariableDefinition]*ast.Type
	// mixed are the literals of custom scalars that have variables inside.
	mixed map[*ast.OperationDefinition][]*ast.Value
}

func (d *documents) demands(doc *ast.QueryDocument) (demands, *gqlerror.Error) {
	found := demands{map[*ast.VariableDefinition]*ast.Type{}, map[*ast.OperationDefinition][]*ast.Value{}}
	var refused *gqlerror.Error
	uses := map[*ast.VariableDefinition]int{}
	var events validator.Events
	events.OnValue(keepDigits)
	events.OnValue(func(w *validator.Walker, v *ast.Value) {
		def := v.VariableDefinition
		if def != nil && !def.Type.NonNull && v.ExpectedType != nil && v.ExpectedType.NonNull {
			found.filled[def] = v.ExpectedType
		}
		op := w.CurrentOperation
		if op == nil || d.scalars.of(v) == nil {
			return
		}
		inside := variablesIn(v)
		if len(inside) > 0 {
			found.mixed[op] = append(found.mixed[op], v)
		}
		for _, name := range inside {
			def := op.VariableDefinitions.ForName(name)
			if uses[def]++; uses[def] > d.limits.Repeats {
				refused = limit{"repeats", d.limits.Repeats, "uses of one variable inside literals"}.refuse(0, v.Position)
			}
		}
	})
	validator.Walk(d.schema, doc, &events)
	return found, refused
}

// variablesIn are the names of the variables inside a literal.
func variablesIn(v *ast.Value) (names []string) {
	if v.Kind == ast.Variable {
		return []string{v.Raw}
	}
	for _, child := range v.Children {
		names = append(names, variablesIn(child.Value)...)
	}
	return names
}

// mixed checks the literals of an operation that have variables inside, now that these have values.
func (d *documents) mixed(literals []*ast.Value, variables map[string]any) (errs gqlerror.List) {
	for _, v := range literals {
		if err := d.scalars.of(v).literal(v, variables); err != nil {
			name := variablesIn(v)[0]
			wrong := fault.New(fault.DocumentVariablesInvalid, "The value around %q %s.", "$"+name, err)
			errs = append(errs, refusal(wrong, ast.Path{ast.PathName("variable"), ast.PathName(name)}, v.Position))
		}
	}
	return errs
}
