package graph

import (
	"context"
	"net/http"

	"github.com/99designs/gqlgen/graphql"

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
	schema := gqlhttp.WithoutDefer(generated.NewExecutableSchema(generated.Config{}).Schema())
	// The strict decoder of inputs bounds how deep they nest.
	c.Server.Limits.FreeInputs = []string{"InputPropertyInput"}
	c.Server.Limits.Large = []string{"JSON"}
	c.Server.Scalars = scalar.Checks()
	s := gqlhttp.NewServer(generated.NewExecutableSchema(generated.Config{Schema: schema, Resolvers: r}), c.Server,
		gqlhttp.WebSocket{Streams: c.HTTP.Streams, MaxQuery: c.HTTP.MaxQuery}, c.HTTP)
	s.Use(answers{})
	return s
}

// answers gives each answer of an operation, of which a subscription has many, its families.
type answers struct{}

func (answers) ExtensionName() string                   { return "Answers" }
func (answers) Validate(graphql.ExecutableSchema) error { return nil }

// InterceptRootField gives each field of the root families of its own, for no edge leads from one to another:
// what was read for it is free as soon as it is answered.
func (answers) InterceptRootField(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	return next(withFamilies(ctx))
}

// InterceptResponse does so for the events of a subscription, whose root is resolved only once.
func (answers) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	return next(withFamilies(ctx))
}
