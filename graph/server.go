package graph

import (
	"context"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"slipway/graph/generated"
	"slipway/internal/gqlhttp"
)

// Config is what the endpoint may be told.
type Config struct {
	HTTP   gqlhttp.HTTP
	Server gqlhttp.Config
}

// NewHandler makes the GraphQL endpoint.
func NewHandler(r *Resolver, c Config) http.Handler {
	s := gqlhttp.NewServer(generated.NewExecutableSchema(generated.Config{Resolvers: r}), c.Server, c.HTTP)
	s.Use(operations{r, c.Server.Presenter})
	return s
}

// operations gives each operation its families and the organization that a superadmin names.
type operations struct {
	*Resolver
	presenter gqlhttp.Presenter
}

func (operations) ExtensionName() string                   { return "Operations" }
func (operations) Validate(graphql.ExecutableSchema) error { return nil }

func (o operations) InterceptOperation(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	ctx, err := o.inOrganization(ctx)
	if err != nil {
		// The context has no place for errors before the operation runs.
		return graphql.OneShot(&graphql.Response{Errors: gqlerror.List{o.presenter.Present(ctx, err)}})
	}
	return next(withFamilies(ctx))
}
