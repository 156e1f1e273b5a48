// Package valuesource looks up options that the server knows: what the values of an input may be if its
// schema names a source instead of listing them. A source is one entry of the table in source.go; the table
// alone decides whether a reference to a source is right (Check), so that a schema can be checked without
// any service.
package valuesource

import (
	"context"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/page"
	"slipway/internal/pure/inputprop"
	"slipway/internal/service/access"
	"slipway/internal/service/catalog"
	"slipway/internal/service/defaults"
	"slipway/internal/service/workspace"
)

// Service looks up the options of the sources in what the services have.
type Service struct {
	Catalog     *catalog.Service
	Workspace   *workspace.Service
	Definitions *defaults.Reader
}

// Options returns a page of the options of a source that the actor may choose. It fails with RequestInvalid for a
// source that there is not and for parameters that it does not take.
func (s *Service) Options(
	ctx context.Context, source string, params map[string]string, args page.Args,
) (*page.Connection[*inputprop.Option], error) {
	if err := access.Check(actor.From(ctx), access.Read, fault.RequestForbidden); err != nil {
		return nil, err
	}
	if violations := Check(source, params); len(violations) > 0 {
		return nil, fault.Invalid(fault.RequestInvalid, violations...)
	}
	return find(source).options(ctx, s, params, args)
}

// maxAll is how many options a value may be chosen from.
const maxAll = 5000

// All returns every option of a source, to check a value against. It fails with RequestInvalid if there are more
// than a value may be chosen from.
func (s *Service) All(ctx context.Context, source string, params map[string]string) ([]*inputprop.Option, error) {
	size := int32(page.MaxSize)
	var all []*inputprop.Option
	for args := (page.Args{First: &size}); ; {
		p, err := s.Options(ctx, source, params, args)
		if err != nil {
			return nil, err
		}
		all = append(all, p.Nodes()...)
		switch {
		case !p.PageInfo.HasNextPage:
			return all, nil
		case len(all) >= maxAll:
			return nil, fault.New(
				fault.RequestInvalid, "The source %s has more than %d options; narrow it by its parameters.", source, maxAll,
			)
		}
		args.After = p.PageInfo.EndCursor
	}
}
