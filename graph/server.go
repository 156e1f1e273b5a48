package graph

import (
	"context"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/graph/generated"
	"slipway/graph/scalar"
	"slipway/internal/gqlhttp"
	"slipway/internal/gqlhttp/document"
	"slipway/internal/gqlhttp/stream"
)

// Config is the configuration of the endpoint.
type Config struct {
	HTTP   gqlhttp.HTTP
	Server gqlhttp.Config
}

// NewHandler returns the GraphQL endpoint.
func NewHandler(r *Resolver, c Config) http.Handler {
	c.Server = ofSchema(c.Server)
	s := gqlhttp.NewServer(generated.NewExecutableSchema(generated.Config{Schema: schema(), Resolvers: r}), c.Server,
		stream.WebSocket{Streams: c.HTTP.Streams, MaxQuery: c.HTTP.MaxQuery}, c.HTTP)
	s.Use(batching{})
	return s
}

// ReadTrusted reads documents that callers may name, as gqlhttp.ReadTrusted does, for an endpoint of the same Config.
func ReadTrusted(text []byte, c Config) (*gqlhttp.Trusted, error) {
	return gqlhttp.ReadTrusted(text, schema(), ofSchema(c.Server), c.HTTP.MaxQuery)
}

func schema() *ast.Schema {
	return document.StandardSchema(generated.NewExecutableSchema(generated.Config{}).Schema())
}

// ofSchema adds what is special about this schema to a configuration.
func ofSchema(c gqlhttp.Config) gqlhttp.Config {
	// The strict decoder of inputs bounds how deep they nest.
	c.Limits.FreeInputs = []string{"InputPropertyInput"}
	c.Limits.Large = []string{"JSON"}
	c.Patience = patience
	c.Scalars = scalar.Checks()
	s := schema()
	c.Prepare = func(op *ast.OperationDefinition) any { return selectColumns(s, op) }
	return c
}

// batching is the extension of gqlgen that begins the batches of each answer; a subscription has many answers.
type batching struct{}

// ExtensionName implements graphql.HandlerExtension.
func (batching) ExtensionName() string { return "Batching" }

// Validate implements graphql.HandlerExtension.
func (batching) Validate(graphql.ExecutableSchema) error { return nil }

// InterceptRootField begins the batches of each root field anew: no edge leads from one root field to another, and
// what was read for one can be freed as soon as it is answered.
func (batching) InterceptRootField(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	return next(withBatches(ctx))
}

// InterceptResponse begins them anew for each event of a subscription, whose root field is resolved only once.
func (batching) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	return next(withColumns(withBatches(ctx)))
}
