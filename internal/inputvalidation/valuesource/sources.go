package valuesource

import (
	"context"

	"slipway/ent"
	"slipway/internal/actor"
	"slipway/internal/catalog"
	"slipway/internal/defaults"
	"slipway/internal/fault"
	"slipway/internal/inputprop"
	"slipway/internal/page"
	"slipway/internal/workspace"
)

func moduleTypes(c *catalog.Service) Source {
	return Source{
		Name:        "module_types",
		Description: "The types of the modules in the catalogue.",
		options: func(ctx context.Context, _ map[string]string, args page.Args) (*page.Connection[*inputprop.Option], error) {
			definitions, err := c.Types(ctx, args)
			if err != nil {
				return nil, err
			}
			return page.Map(definitions, func(d *ent.ModuleDefinition) (*inputprop.Option, error) {
				return option(d.Type, d.Name, d.Description), nil
			})
		},
	}
}

func moduleInstances(c *catalog.Service) Source {
	return Source{
		Name:        "module_instances",
		Description: "The module instances of the organization.",
		Params: []Param{
			{Name: "type", Description: "Only instances of modules of this type."},
			{Name: "environmentId", Description: "Only instances in this environment."},
		},
		options: func(ctx context.Context, params map[string]string, args page.Args) (*page.Connection[*inputprop.Option], error) {
			instances, err := c.Instances(ctx, instanceFilter(params), args)
			if err != nil {
				return nil, err
			}
			return page.Map(instances, func(i *ent.ModuleInstance) (*inputprop.Option, error) { return option(i.ID, i.Name, nil), nil })
		},
	}
}

func instanceFilter(params map[string]string) catalog.InstanceFilter {
	return catalog.InstanceFilter{Type: param(params, "type"), EnvironmentID: param(params, "environmentId")}
}

func projects(w *workspace.Service) Source {
	return Source{
		Name:        "projects",
		Description: "The projects of the organization.",
		options: func(ctx context.Context, _ map[string]string, args page.Args) (*page.Connection[*inputprop.Option], error) {
			projects, err := w.Projects(ctx, args)
			if err != nil {
				return nil, err
			}
			return page.Map(projects, func(p *ent.Project) (*inputprop.Option, error) { return option(p.ID, p.Name, nil), nil })
		},
	}
}

func environments(w *workspace.Service) Source {
	return Source{
		Name:        "environments",
		Description: "The environments of the organization.",
		Params:      []Param{{Name: "projectId", Description: "Only environments of this project."}},
		options: func(ctx context.Context, params map[string]string, args page.Args) (*page.Connection[*inputprop.Option], error) {
			environments, err := w.Environments(ctx, param(params, "projectId"), args)
			if err != nil {
				return nil, err
			}
			return page.Map(environments, func(e *ent.Environment) (*inputprop.Option, error) { return option(e.ID, e.Name, nil), nil })
		},
	}
}

// mostHops bounds how many definitions may lead on to one another.
const mostHops = 8

// hops counts the definitions that led here.
type hops struct{}

func definition(r *Registry, d *defaults.Service) Source {
	// values gives where the options of the definition come from.
	values := func(ctx context.Context, params map[string]string) (context.Context, inputprop.Values, error) {
		n, _ := ctx.Value(hops{}).(int)
		if n == mostHops {
			return ctx, nil, fault.New(fault.RequestInvalid, "The default value definition %q takes its options from itself, or through too many others.", params[inputprop.ParamGivenID])
		}
		schema, err := d.SchemaOf(ctx, params[inputprop.ParamGivenID])
		if err != nil {
			return ctx, nil, err
		}
		return context.WithValue(ctx, hops{}, n+1), schema.ValueSource(), nil
	}
	return Source{
		Name:        inputprop.SourceDefinition,
		Description: "The options of a default value definition of the organization.",
		Params:      []Param{{Name: inputprop.ParamGivenID, Description: "The givenId of the definition.", Required: true}},
		options: func(ctx context.Context, params map[string]string, args page.Args) (*page.Connection[*inputprop.Option], error) {
			ctx, source, err := values(ctx, params)
			if err != nil {
				return nil, err
			}
			if ref, ok := source.(*inputprop.DynamicValuesRef); ok {
				return r.Options(ctx, ref.Source, ref.Literals(), args)
			}
			scope := page.Scope{List: "definition", Viewer: actor.From(ctx).OrganizationID, Filter: params}
			return page.Slice(options(source), args, scope)
		},
	}
}

// options are those that are written down.
func options(source inputprop.Values) []*inputprop.Option {
	static, ok := source.(*inputprop.StaticValues)
	if !ok {
		return nil
	}
	list := make([]*inputprop.Option, len(static.Options))
	for i := range static.Options {
		list[i] = &static.Options[i]
	}
	return list
}

func option(value, label string, description *string) *inputprop.Option {
	return &inputprop.Option{Value: value, Label: &label, Description: description}
}

func param(params map[string]string, name string) *string {
	if value, ok := params[name]; ok {
		return &value
	}
	return nil
}
