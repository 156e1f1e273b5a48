package cli

import (
	"context"
	"fmt"

	"slipway/internal/base/fault"
	"slipway/internal/remote/cli/manifest"
	"slipway/internal/remote/client"
)

// resolver returns how a path that stands for an instance in values is looked up.
func (s *session) resolver() manifest.Resolver {
	return func(ctx context.Context, path string) (string, error) {
		r, err := client.Instance(ctx, s.conn, nil, &path)
		switch {
		case isCode(err, fault.ModuleInstanceNotFound, fault.RequestInvalid):
			return "", &manifest.PathError{
				Rule:    "reference",
				Message: fmt.Sprintf("must be the path or the id of an instance, found %q, which there is not", path),
			}
		case err != nil:
			return "", err
		}
		return r.ModuleInstance.Id, nil
	}
}
