package inputprop

import (
	"context"
	"errors"
	"strings"

	"slipway/internal/strictjson"
)

// Env is what values are resolved in: what templates may name, and where the server's lists and other
// instances are. What is left empty of a Scope is not known: templates that name it stay as they are.
type Env struct {
	Organization, Project, Environment Scope
	Module                             ModuleScope
	// Previous are the values that bind: those of the live release, and those that immutable inputs had before
	// they were hidden. It is nil before there are any. They also stand for immutable inputs that are left out.
	Previous *strictjson.Node
	// Ref gives what a chosen instance has at a path such as input.cidr or stack.output.vpc_id, false where
	// it has nothing there, ErrNotLive where it has nothing at all, and ErrUnknownRef where only whoever carries
	// the deployment out can tell.
	// Without it, values that come from instances are not known.
	Ref func(ctx context.Context, instanceID, path string) (*strictjson.Node, bool, error)
	// Reference returns why an instance may not be chosen by a reference to a module type, "" where it may. Without
	// it, every instance may.
	Reference func(instanceID, moduleType string) string
	// Options gives the options of a source of dynamic values. Without it, they are not known and no
	// value is refused for not being among them.
	Options func(ctx context.Context, source string, params map[string]string) ([]Option, error)
}

// ErrUnknownRef says that a value of a chosen instance is not known here; it is left to be filled in.
var ErrUnknownRef = errors.New("inputprop: the value is not known here")

// ErrNotLive says that a chosen instance has nothing live that its inputs could be read from.
var ErrNotLive = errors.New("inputprop: the instance has nothing live")

// Scope is what templates may name of an organization, a project or an environment.
type Scope struct{ ID, Name, Slug string }

// ModuleScope is what templates may name of the module.
type ModuleScope struct{ ID, Name, Type, Version string }

// text is what a path stands for, "" where that is not known here, false where there is no such thing.
func (e *Env) text(path string) (string, bool) {
	root, member, _ := strings.Cut(path, ".")
	var members map[string]string
	switch root {
	case "organization":
		members = e.Organization.members()
	case "project":
		members = e.Project.members()
	case "environment":
		members = e.Environment.members()
	case "module":
		members = map[string]string{"id": e.Module.ID, "name": e.Module.Name, "type": e.Module.Type, "version": e.Module.Version}
	}
	text, ok := members[member]
	return text, ok
}

func (s Scope) members() map[string]string {
	return map[string]string{"id": s.ID, "name": s.Name, "slug": s.Slug}
}
