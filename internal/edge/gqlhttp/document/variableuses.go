package document

import (
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/edge/gqlhttp/wire"
)

// variableUses are what the places where variables are used ask of them beyond their types.
type variableUses struct {
	// nonNull are the variables whose own type allows null where a place that they are used at does not,
	// with the type of that place. A default lets such a document pass validation.
	nonNull map[*ast.VariableDefinition]*ast.Type
	// literals are the literals of custom scalars that have variables inside.
	literals map[*ast.OperationDefinition][]*ast.Value
}

// variableUses walks a valid document. It refuses one that has a variable inside too many literals.
func (d *Documents) variableUses(doc *ast.QueryDocument) (variableUses, *gqlerror.Error) {
	found := variableUses{map[*ast.VariableDefinition]*ast.Type{}, map[*ast.OperationDefinition][]*ast.Value{}}
	var refused *gqlerror.Error
	uses := map[*ast.VariableDefinition]int{}

	var events validator.Events
	events.OnValue(keepDigits)
	events.OnValue(func(w *validator.Walker, v *ast.Value) {
		def := v.VariableDefinition
		if def != nil && !def.Type.NonNull && v.ExpectedType != nil && v.ExpectedType.NonNull {
			found.nonNull[def] = v.ExpectedType
		}

		op := w.CurrentOperation
		if op == nil || d.scalars.forLiteral(v) == nil {
			return
		}

		inside := variablesIn(v)
		if len(inside) > 0 {
			found.literals[op] = append(found.literals[op], v)
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

// variablesIn returns the names of the variables inside a literal.
func variablesIn(v *ast.Value) (names []string) {
	if v.Kind == ast.Variable {
		return []string{v.Raw}
	}
	for _, child := range v.Children {
		names = append(names, variablesIn(child.Value)...)
	}
	return names
}

// checkLiterals checks the literals of an operation that have variables inside, now that these have values.
func (d *Documents) checkLiterals(
	literals []*ast.Value, variable func(name string) *strictjson.Node,
) (errs gqlerror.List) {
	for _, v := range literals {
		if err := d.scalars.forLiteral(v).literal(v, variable); err != nil {
			name := variablesIn(v)[0]
			wrong := fault.New(fault.DocumentVariablesInvalid, "The value around %q %s.", "$"+name, err)
			errs = append(errs, wire.RequestError(wrong, ast.Path{ast.PathName("variable"), ast.PathName(name)}, v.Position))
		}
	}
	return errs
}
