// Package resolvertest puts a function around every resolver of the schema, for tests that let resolvers fail, wait or
// answer from memory.
package resolvertest

import (
	"context"
	"reflect"

	"slipway/graph/generated"
)

// Field is a field that a resolver is called for.
type Field struct {
	// Name is that of the type and of the field: "Deployment.release".
	Name string
	// Parent is the object that has the field, nil at the root.
	Parent any
	// Args are the arguments, in the order of the schema.
	Args []any
	// Type is that of the resolver's result.
	Type reflect.Type
}

// Call is called in place of a resolver, which resolve calls. What it returns is what the resolver does; nil stands for
// the zero value of any type.
type Call func(ctx context.Context, f Field, resolve func(context.Context) (any, error)) (any, error)

// Around returns resolvers that call the function around those of a root.
func Around(root generated.ResolverRoot, call Call) generated.ResolverRoot {
	return resolvers{root, call}
}

func around[T any](ctx context.Context, call Call, f Field, resolve func(context.Context) (T, error)) (T, error) {
	f.Type = reflect.TypeFor[T]()
	value, err := call(ctx, f, func(ctx context.Context) (any, error) { return resolve(ctx) })
	resolved, _ := value.(T)
	return resolved, err
}
