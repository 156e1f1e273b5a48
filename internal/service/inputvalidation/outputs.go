package inputvalidation

import (
	"context"
	"fmt"
	"slices"

	"slipway/ent"
	"slipway/ent/moduledefinition"
	"slipway/ent/moduleversion"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/output"
)

// ruleOutputUnknown is the rule of a warning that an input is mapped from an output that is not declared.
const ruleOutputUnknown = "output_unknown"

// outputName is an output that a mapped input reads of the instances of a module type.
type outputName struct{ moduleType, name string }

// addOutputs adds the outputs that the mapped inputs of a reference read; pointer is that of the reference.
func (n *names) addOutputs(r *inputprop.ReferenceProperty, pointer string) {
	nested := r.Nested()
	inputprop.Walk(nested.Inputs, pointer+"/"+nested.Member, func(p inputprop.Property, at string) {
		initial := p.InitialValue()
		if initial.Node == nil || initial.Verbatim {
			return
		}
		for _, name := range inputprop.OutputsNamed(initial.Node) {
			n.outputs = append(n.outputs, named[outputName]{at + "/default", outputName{r.ModuleType(), name}})
		}
	})
}

// checkOutputs warns of the outputs that mapped inputs read and that the latest version of their module does not
// declare, if it declares any.
func (c *SchemaChecker) checkOutputs(ctx context.Context, named []named[outputName]) ([]inputprop.Warning, error) {
	if len(named) == 0 {
		return nil, nil
	}
	latest, err := c.latestOf(ctx, named)
	if err != nil {
		return nil, err
	}

	var warnings []inputprop.Warning
	for _, at := range named {
		version := latest[at.what.moduleType]
		if version == nil {
			continue
		}
		declared, err := version.Outputs.Declared(ctx)
		if err != nil {
			return nil, err
		}

		names := make([]string, len(declared))
		for i, d := range declared {
			names[i] = d.Name
		}

		if len(names) > 0 && !slices.Contains(names, at.what.name) {
			warnings = append(warnings, inputprop.Warning{Pointer: at.pointer, Rule: ruleOutputUnknown,
				Message: fmt.Sprintf("reads the output %s, which the latest version %s of %s does not declare; it declares %s",
					at.what.name, version.Version, at.what.moduleType, output.Names(names))})
		}
	}

	return warnings, nil
}

// latestOf returns the latest version of each module type of which outputs are read. An organization's module goes
// before a global one of the same type.
func (c *SchemaChecker) latestOf(
	ctx context.Context, named []named[outputName],
) (map[string]*ent.ModuleVersion, error) {
	var types []string
	for _, at := range named {
		types = append(types, at.what.moduleType)
	}

	slices.Sort(types)
	modules, err := c.Store.Client.ModuleDefinition.Query().
		Where(moduledefinition.TypeIn(slices.Compact(types)...), moduledefinition.LatestVersionIDNotNil()).
		Order(ent.Asc(moduledefinition.FieldID)).All(ctx)
	if err != nil {
		return nil, err
	}

	of := map[string]*ent.ModuleDefinition{}
	var ids []string
	for _, m := range modules {
		if of[m.Type] == nil || m.OrganizationID != nil {
			of[m.Type] = m
		}
	}

	for _, m := range of {
		ids = append(ids, *m.LatestVersionID)
	}

	versions, err := c.Store.Client.ModuleVersion.Query().Where(moduleversion.IDIn(ids...)).All(ctx)
	latest := map[string]*ent.ModuleVersion{}
	for _, v := range versions {
		for _, m := range of {
			if *m.LatestVersionID == v.ID {
				latest[m.Type] = v
			}
		}
	}

	return latest, err
}
