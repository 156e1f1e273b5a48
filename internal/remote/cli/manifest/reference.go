package manifest

import (
	"context"
	"fmt"
	"strings"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/base/textrules"
	"slipway/internal/pure/inputprop"
)

// Environment is where an instance is that values are for.
type Environment struct{ Project, Slug string }

// Resolver returns the id of the instance of a path such as shop/prod/network. If the error is a *PathError, it is a
// violation of the value that has the path; any other ends the search.
type Resolver func(ctx context.Context, path string) (id string, err error)

// PathError is what is wrong with a path of an instance.
type PathError struct {
	// Rule and Message are those of a violation.
	Rule, Message string
}

// Error implements error.
func (e *PathError) Error() string { return e.Message }

// ResolveReferences returns values in which each reference that is written as a path has the id of the instance
// instead, at any depth. A path is ./network, in the environment itself, ../staging/network, in its project, or
// shop/prod/network; a text without a slash is an id and stays. Without an environment only whole paths are taken. Each
// path is resolved once. The pointers of the violations lead into the values; other errors of the resolver end it.
func ResolveReferences(
	ctx context.Context, inputs []inputprop.Property, values *strictjson.Node, env Environment, resolve Resolver,
) (*strictjson.Node, []fault.Violation, error) {
	r := &references{ctx: ctx, env: env, resolve: resolve, ids: map[string]string{}, found: strictjson.NewCollector("")}
	resolved := r.level(inputprop.NewLevel(inputs), values)
	return resolved, r.found.Violations(), r.err
}

type references struct {
	ctx     context.Context
	env     Environment
	resolve Resolver
	// ids are those of the paths so far.
	ids   map[string]string
	found *strictjson.Collector
	err   error
}

// level resolves the references of a level, mapped inputs among them.
func (r *references) level(level *inputprop.Level, values *strictjson.Node) *strictjson.Node {
	if values == nil || values.Kind != strictjson.Object {
		return values
	}
	return r.each(values, func(i int, value *strictjson.Node) *strictjson.Node {
		in, ok := level.ByID[values.Keys[i]]
		switch {
		case !ok:
			return value
		case in.Traits.ModuleType != "":
			return r.reference(value)
		case in.Nested.IsCollection() && value.Kind == in.Nested.Collection:
			return r.each(value, func(_ int, item *strictjson.Node) *strictjson.Node { return r.level(in.Items(), item) })
		default:
			return value
		}
	})
}

// each returns a collection with other items, itself if none is another.
func (r *references) each(
	n *strictjson.Node, change func(i int, item *strictjson.Node) *strictjson.Node,
) *strictjson.Node {
	changed := &strictjson.Node{Kind: n.Kind, Keys: n.Keys, Items: make([]*strictjson.Node, len(n.Items))}
	same := true
	for i, item := range n.Items {
		r.found.Path.Push(n, i)
		changed.Items[i] = change(i, item)
		r.found.Path.Pop()
		same = same && changed.Items[i] == item
	}
	if same {
		return n
	}
	return changed
}

// reference returns the id that a reference's value stands for.
func (r *references) reference(n *strictjson.Node) *strictjson.Node {
	if n.Kind != strictjson.String || !strings.Contains(n.Text, "/") || r.err != nil {
		return n
	}
	path, flaw := r.path(n.Text)
	if flaw != nil {
		r.found.Fail(flaw.Rule, "%s", flaw.Message)
		return n
	}
	id, known := r.ids[path]
	if !known {
		var err error
		if id, err = r.resolve(r.ctx, path); err != nil {
			r.refuse(err)
			return n
		}
		r.ids[path] = id
	}
	return &strictjson.Node{Kind: strictjson.String, Text: id}
}

// path returns the whole path of an instance that a text means.
func (r *references) path(text string) (string, *PathError) {
	path := text
	if r.env == (Environment{}) && strings.HasPrefix(text, ".") {
		return "", &PathError{
			"path",
			fmt.Sprintf("must be the id of an instance, or a whole path such as shop/prod/network, "+
				"because there is no environment that it could start in, found %s", strictjson.ShowText(text)),
		}
	}

	if rest, ok := strings.CutPrefix(text, "./"); ok {
		path = r.env.Project + "/" + r.env.Slug + "/" + rest
	} else if rest, ok := strings.CutPrefix(text, "../"); ok {
		path = r.env.Project + "/" + rest
	}

	if _, wrong := textrules.Path("", path, "project", "environment", "instance"); len(wrong) > 0 {
		return "", &PathError{
			"path",
			fmt.Sprintf("must be the id of an instance, or a path such as ./network, ../staging/network or shop/prod/network, "+
				"found %s", strictjson.ShowText(text)),
		}
	}
	return path, nil
}

func (r *references) refuse(err error) {
	if flaw, ok := err.(*PathError); ok { //nolint:errorlint // it is made for this, and not wrapped
		r.found.Fail(flaw.Rule, "%s", flaw.Message)
		return
	}
	r.err = err
}
