package graph

import (
	"context"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"slipway/graph/generated"
	"slipway/graph/scalar"
	"slipway/internal/gqlhttp"
)

// Config is what the endpoint may be told.
type Config struct {
	HTTP   gqlhttp.HTTP
	Server gqlhttp.Config
}

// NewHandler makes the GraphQL endpoint.
func NewHandler(r *Resolver, c Config) http.Handler {
	c.Server = ofSchema(c.Server)
	s := gqlhttp.NewServer(generated.NewExecutableSchema(generated.Config{Schema: schema(), Resolvers: r}), c.Server,
		gqlhttp.WebSocket{Streams: c.HTTP.Streams, MaxQuery: c.HTTP.MaxQuery}, c.HTTP)
	s.Use(operations{r, c.Server.Presenter})
	return s
}

// ReadTrusted reads documents that callers may name, as gqlhttp.ReadTrusted does, for an endpoint of the same Config.
func ReadTrusted(text []byte, c Config) (*gqlhttp.Trusted, error) {
	return gqlhttp.ReadTrusted(text, schema(), ofSchema(c.Server), c.HTTP.MaxQuery)
}

func schema() *ast.Schema {
	return gqlhttp.WithoutDefer(generated.NewExecutableSchema(generated.Config{}).Schema())
}

// ofSchema adds to a configuration what the schema has special.
func ofSchema(c gqlhttp.Config) gqlhttp.Config {
	// The strict decoder of inputs bounds how deep they nest.
	c.Limits.FreeInputs = []string{"InputPropertyInput"}
	c.Limits.Large = []string{"JSON"}
	c.Scalars = scalar.Checks()
	return c
}

// operations gives each operation the organization that a superadmin names, and each of its answers, of
// which a subscription has many, its families.
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
	return next(ctx)
}

// InterceptRootField gives each field of the root families of its own, for no edge leads from one to another:
// what was read for it is free as soon as it is answered.
func (operations) InterceptRootField(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	return next(withFamilies(ctx))
}

// InterceptResponse does so for the events of a subscription, whose root is resolved only once.
func (operations) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	return next(withFamilies(ctx))
}
