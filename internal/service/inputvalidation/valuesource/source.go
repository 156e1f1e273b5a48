package valuesource

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/page"
	"slipway/internal/data/record"
	"slipway/internal/pure/inputprop"
	"slipway/internal/service/catalog"
	"slipway/internal/service/workspace"
)

// Source is a list of options that the server knows.
type Source struct {
	Name        string
	Description string
	Params      []Param

	// options returns a page of the options that the actor may choose.
	options func(
		ctx context.Context, s *Service, params map[string]string, args page.Args,
	) (*page.Connection[*inputprop.Option], error)
}

// Param is a parameter of a source. Its value is a text.
type Param struct {
	Name        string
	Description string
	Required    bool
}

// Sources returns the sources by name.
func Sources() []Source {
	return []Source{
		{
			Name:        inputprop.SourceDefinition,
			Description: "The options of a default value definition of the organization.",
			Params:      []Param{{Name: inputprop.ParamGivenID, Description: "The givenId of the definition.", Required: true}},
			options:     definitionOptions,
		},
		{
			Name:        "environments",
			Description: "The environments of the organization that are not archived.",
			Params:      []Param{{Name: "projectId", Description: "Only environments of this project."}},
			options:     environments,
		},
		{
			Name:        "module_instances",
			Description: "The module instances of the organization that are not archived.",
			Params: []Param{
				{Name: "type", Description: "Only instances of modules of this type."},
				{Name: "environmentId", Description: "Only instances in this environment."},
			},
			options: moduleInstances,
		},
		{
			Name:        "module_types",
			Description: "The types of the modules in the catalogue.",
			options:     moduleTypes,
		},
		{
			Name:        "projects",
			Description: "The projects of the organization that are not archived.",
			options:     projects,
		},
	}
}

// find returns the source of a name, nil if there is none.
func find(name string) *Source {
	all := Sources()
	if i := slices.IndexFunc(all, func(s Source) bool { return s.Name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// Check returns what is wrong with a reference to a source, without looking anything up.
func Check(source string, params map[string]string) []fault.Violation {
	s := find(source)
	if s == nil {
		var names []string
		for _, s := range Sources() {
			names = append(names, s.Name)
		}
		return []fault.Violation{{Pointer: "/source", Rule: "unknown_source",
			Message: fmt.Sprintf("must be one of %s, found %.60q", strings.Join(names, ", "), source)}}
	}

	var wrong fault.Violations
	var names []string
	for _, p := range s.Params {
		names = append(names, p.Name)
		if _, given := params[p.Name]; p.Required && !given {
			wrong.Add(fault.Pointer("params", p.Name), "required", "is required by the source %s", source)
		}
	}

	for _, name := range slices.Sorted(maps.Keys(params)) {
		if !slices.Contains(names, name) {
			wrong.Add(fault.Pointer("params", name), "unknown_param",
				"is not a parameter of the source %s, which takes %s", source, list(names))
		}
	}

	return wrong.All("/params")
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func moduleTypes(
	ctx context.Context, s *Service, _ map[string]string, args page.Args,
) (*page.Connection[*inputprop.Option], error) {
	definitions, err := s.Catalog.Types(record.Whole(ctx), args)
	if err != nil {
		return nil, err
	}
	return page.Map(definitions, func(d *record.ModuleDefinition) (*inputprop.Option, error) {
		return option(d.Type, d.Name, d.Description), nil
	})
}

func moduleInstances(
	ctx context.Context, s *Service, params map[string]string, args page.Args,
) (*page.Connection[*inputprop.Option], error) {
	filter := catalog.InstanceFilter{Type: param(params, "type"), EnvironmentID: param(params, "environmentId")}
	instances, err := s.Catalog.Instances(record.Whole(ctx), filter, args)
	if err != nil {
		return nil, err
	}
	return page.Map(
		instances, func(i *record.ModuleInstance) (*inputprop.Option, error) { return option(i.ID, i.Name, nil), nil },
	)
}

func projects(
	ctx context.Context, s *Service, _ map[string]string, args page.Args,
) (*page.Connection[*inputprop.Option], error) {
	projects, err := s.Workspace.Projects(record.Whole(ctx), workspace.ProjectFilter{}, args)
	if err != nil {
		return nil, err
	}
	return page.Map(projects, func(p *record.Project) (*inputprop.Option, error) { return option(p.ID, p.Name, nil), nil })
}

func environments(
	ctx context.Context, s *Service, params map[string]string, args page.Args,
) (*page.Connection[*inputprop.Option], error) {
	environments, err := s.Workspace.Environments(
		record.Whole(ctx), workspace.EnvironmentFilter{ProjectID: param(params, "projectId")}, args,
	)
	if err != nil {
		return nil, err
	}
	return page.Map(
		environments, func(e *record.Environment) (*inputprop.Option, error) { return option(e.ID, e.Name, nil), nil },
	)
}

// definitionOptions returns the options that a definition lists, or those of the source that it names.
func definitionOptions(
	ctx context.Context, s *Service, params map[string]string, args page.Args,
) (*page.Connection[*inputprop.Option], error) {
	givenID := params[inputprop.ParamGivenID]
	hops, _ := ctx.Value(hopsKey{}).(int)
	if hops == maxHops {
		return nil, fault.New(fault.RequestInvalid, "The default value definition %q takes its options from itself, or "+
			"through too many others.", givenID)
	}
	schema, err := s.Definitions.SchemaOf(ctx, givenID)
	if err != nil {
		return nil, err
	}
	values := schema.ValueSource()
	if ref, ok := values.(*inputprop.DynamicValuesRef); ok {
		return s.Options(context.WithValue(ctx, hopsKey{}, hops+1), ref.Source, ref.Literals(), args)
	}
	scope := page.Scope{List: "definition", Viewer: actor.From(ctx).OrganizationID, Filter: params}
	return page.Slice(options(values), args, scope)
}

// maxHops bounds how many definitions may lead on to one another.
const maxHops = 8

// hopsKey is the context's key for how many definitions have led here.
type hopsKey struct{}

// options returns the options that are listed.
func options(values inputprop.Values) []*inputprop.Option {
	static, ok := values.(*inputprop.StaticValues)
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
