// Package valuesource looks up options that the server knows: what the values of an input may be where its
// schema names a source instead of listing them. A new source is one entry of the table in sources.go.
package valuesource

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/catalog"
	"slipway/internal/defaults"
	"slipway/internal/fault"
	"slipway/internal/inputprop"
	"slipway/internal/page"
	"slipway/internal/workspace"
)

// Param is a parameter of a source. Its value is a text.
type Param struct {
	Name        string
	Description string
	Required    bool
}

// Source is a list of options that the server knows.
type Source struct {
	Name        string
	Description string
	Params      []Param

	// options returns a page of the options that the actor may choose.
	options func(ctx context.Context, params map[string]string, args page.Args) (*page.Connection[*inputprop.Option], error)
}

// Registry has every source.
type Registry struct{ sources map[string]Source }

// New makes the registry over the services that the sources read from.
func New(c *catalog.Service, w *workspace.Service, d *defaults.Service) *Registry {
	r := &Registry{sources: map[string]Source{}}
	for _, s := range []Source{moduleTypes(c), moduleInstances(c), projects(w), environments(w), definition(r, d)} {
		r.sources[s.Name] = s
	}
	return r
}

// Sources lists the sources by name.
func (r *Registry) Sources() []Source {
	return slices.SortedFunc(maps.Values(r.sources), func(a, b Source) int { return strings.Compare(a.Name, b.Name) })
}

// Options returns a page of the options of a source. It fails with RequestInvalid for a source that there is
// not and for parameters that it does not take.
func (r *Registry) Options(ctx context.Context, source string, params map[string]string, args page.Args) (*page.Connection[*inputprop.Option], error) {
	s, err := r.find(ctx, source, params)
	if err != nil {
		return nil, err
	}
	return s.options(ctx, params, args)
}

// maxAll is how many options a value may be chosen from.
const maxAll = 5000

// All returns every option of a source, to judge a value by. It fails with RequestInvalid where there are more
// than can be judged by.
func (r *Registry) All(ctx context.Context, source string, params map[string]string) ([]*inputprop.Option, error) {
	size := int32(page.MaxSize)
	var all []*inputprop.Option
	for args := (page.Args{First: &size}); ; {
		p, err := r.Options(ctx, source, params, args)
		if err != nil {
			return nil, err
		}
		all = append(all, p.Nodes()...)
		switch {
		case !p.PageInfo.HasNextPage:
			return all, nil
		case len(all) >= maxAll:
			return nil, fault.New(fault.RequestInvalid, "The source %s has more than %d options; narrow it by its parameters.", source, maxAll)
		}
		args.After = p.PageInfo.EndCursor
	}
}

func (r *Registry) find(ctx context.Context, source string, params map[string]string) (Source, error) {
	if err := access.Check(actor.From(ctx), access.Read, fault.RequestForbidden); err != nil {
		return Source{}, err
	}
	if violations := r.Check(source, params); len(violations) > 0 {
		return Source{}, fault.Invalid(fault.RequestInvalid, violations...)
	}
	return r.sources[source], nil
}

// Check returns what is wrong with a reference to a source, without looking anything up.
func (r *Registry) Check(source string, params map[string]string) []fault.Violation {
	s, ok := r.sources[source]
	if !ok {
		return []fault.Violation{{Pointer: "/source", Rule: "unknown_source", Message: fmt.Sprintf(
			"must be one of %s, found %.60q", strings.Join(slices.Sorted(maps.Keys(r.sources)), ", "), source)}}
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
