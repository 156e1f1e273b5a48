package gqlhttp_test

import (
	"context"
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"slipway/internal/edge/gqlhttp"
)

// aroundFields is an extension that intercepts fields.
type aroundFields struct{}

func (aroundFields) ExtensionName() string                   { return "AroundFields" }
func (aroundFields) Validate(graphql.ExecutableSchema) error { return nil }

func (aroundFields) InterceptField(ctx context.Context, next graphql.Resolver) (any, error) {
	return next(ctx)
}

func TestAnExtensionThatInterceptsFieldsIsRefused(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("it is taken, and an executor of plans would not call it")
		}
	}()
	gqlhttp.NewServer(toy{toySchema}, gqlhttp.Config{}).Use(aroundFields{})
}
