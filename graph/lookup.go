package graph

import (
	"context"

	"slipway/internal/base/fault"
)

// lookUp reads a record by its id or by its other name, an argument such as "path". It fails with RequestInvalid unless
// exactly one of them is given.
func lookUp[T any](
	ctx context.Context, id *string, byID func(context.Context, string) (*T, error),
	argument string, name *string, byName func(context.Context, string) (*T, error),
) (*T, error) {
	switch {
	case id != nil && name == nil:
		return byID(ctx, *id)
	case id == nil && name != nil:
		return byName(ctx, *name)
	case id == nil:
		return nil, fault.New(fault.RequestInvalid, "Exactly one of id and %s must be given, found neither.", argument)
	default:
		return nil, fault.New(fault.RequestInvalid, "Exactly one of id and %s must be given, found both.", argument)
	}
}
