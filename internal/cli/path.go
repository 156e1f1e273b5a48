package cli

import (
	"context"

	"slipway/internal/cli/manifest"
	"slipway/internal/client"
	"slipway/internal/fault"
)

// resolver returns how references that are written as paths become ids: the server knows the instances.
func (s *session) resolver() manifest.Resolver {
	return func(ctx context.Context, path string) (string, error) {
		r, err := client.Instance(ctx, s.conn, nil, &path)
		if isCode(err, fault.ModuleInstanceNotFound) {
			return "", &manifest.PathError{Rule: "reference", Message: "must be an instance that is there, found " + path + ", which is not"}
		}
		if err != nil {
			return "", err
		}
		return r.ModuleInstance.Id, nil
	}
}
