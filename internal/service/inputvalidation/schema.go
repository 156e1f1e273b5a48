package inputvalidation

import (
	"context"
	"slices"

	"slipway/ent/moduledefinition"
	"slipway/internal/base/fault"
	"slipway/internal/data/store"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/inputrules"
	"slipway/internal/pure/inputvalues"
	"slipway/internal/service/inputvalidation/valuesource"
)

// SchemaChecker checks schemas before they are saved: the rules of package inputrules, and whether the sources and the
// module types that they name are there; and what instances remember of values is judged by them.
type SchemaChecker struct {
	Store *store.Store
	Rules *inputrules.Engine
	// Engine judges what is remembered of values.
	Engine *inputvalues.Engine
}

// Check returns every violation of the rules in the inputs of a module, and warnings; pointers start with
// at. The error is that of a look-up.
func (c *SchemaChecker) Check(
	ctx context.Context, list []inputprop.Property, at string,
) ([]fault.Violation, []inputprop.Warning, error) {
	violations, warnings, err := c.Rules.CheckList(ctx, list, at)
	if err != nil {
		return nil, nil, asUnavailable(err)
	}
	n := names{}
	inputprop.Walk(list, at, n.add)
	return c.checkNames(ctx, n, violations, warnings)
}

// CheckOne is Check for a schema that stands alone.
func (c *SchemaChecker) CheckOne(
	ctx context.Context, schema inputprop.Property, at string,
) ([]fault.Violation, []inputprop.Warning, error) {
	violations, warnings, err := c.Rules.Check(ctx, schema, at)
	if err != nil {
		return nil, nil, asUnavailable(err)
	}
	n := names{}
	inputprop.WalkOne(schema, at, n.add)
	return c.checkNames(ctx, n, violations, warnings)
}

// names are where inputs name what the server may have or not.
type names struct {
	sources []named[*inputprop.DynamicValuesRef]
	types   []named[string]
	outputs []named[outputName]
}

// named is something that inputs name, at a pointer.
type named[T any] struct {
	pointer string
	what    T
}

func (n *names) add(input inputprop.Property, pointer string) {
	if ref := inputprop.DynamicRef(input); ref != nil {
		n.sources = append(n.sources, named[*inputprop.DynamicValuesRef]{pointer + "/values", ref})
	}
	if r, ok := input.(*inputprop.ReferenceProperty); ok {
		n.types = append(n.types, named[string]{pointer + "/type", r.ModuleType()})
		n.addOutputs(r, pointer)
	}
}

// checkNames adds what is wrong with references to dynamic values, and warns of references to module types that the
// catalogue does not have, and of outputs that these do not declare.
func (c *SchemaChecker) checkNames(
	ctx context.Context, n names, violations []fault.Violation, warnings []inputprop.Warning,
) ([]fault.Violation, []inputprop.Warning, error) {
	for _, at := range n.sources {
		params := make(map[string]string, len(at.what.Params.Keys))
		for i, param := range at.what.Params.Values {
			params[at.what.Params.Keys[i]] = param.Text
		}
		violations = append(violations, fault.Under(at.pointer, valuesource.Check(at.what.Source, params))...)
	}

	if len(n.types) == 0 {
		return violations, warnings, nil
	}
	types := make([]string, len(n.types))
	for i, at := range n.types {
		types[i] = at.what
	}

	known, err := c.Store.Client.ModuleDefinition.Query().Where(moduledefinition.TypeIn(types...)).
		Select(moduledefinition.FieldType).Strings(ctx)
	for _, at := range n.types {
		if err == nil && !slices.Contains(known, at.what) {
			warnings = append(warnings, inputprop.Warning{Pointer: at.pointer, Rule: "unknown_module_type",
				Message: "names the module type " + at.what + ", which no module that you see has"})
		}
	}

	if err != nil {
		return nil, nil, err
	}
	unknown, err := c.checkOutputs(ctx, n.outputs)
	return violations, append(warnings, unknown...), err
}
