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

// Config is what the endpoint may be told.
type Config struct {
	HTTP   gqlhttp.HTTP
	Server gqlhttp.Config
}

// NewHandler makes the GraphQL endpoint.
func NewHandler(r *Resolver, c Config) http.Handler {
	c.Server = ofSchema(c.Server)
	s := gqlhttp.NewServer(generated.NewExecutableSchema(generated.Config{Schema: schema(), Resolvers: r}), c.Server,
		stream.WebSocket{Streams: c.HTTP.Streams, MaxQuery: c.HTTP.MaxQuery}, c.HTTP)
	s.Use(answers{})
	return s
}

// ReadTrusted reads documents that callers may name, as gqlhttp.ReadTrusted does, for an endpoint of the same Config.
func ReadTrusted(text []byte, c Config) (*gqlhttp.Trusted, error) {
	return gqlhttp.ReadTrusted(text, schema(), ofSchema(c.Server), c.HTTP.MaxQuery)
}

func schema() *ast.Schema {
	return document.StandardSchema(generated.NewExecutableSchema(generated.Config{}).Schema())
}

// ofSchema adds to a configuration what the schema has special.
func ofSchema(c gqlhttp.Config) gqlhttp.Config {
	// The strict decoder of inputs bounds how deep they nest.
	c.Limits.FreeInputs = []string{"InputPropertyInput"}
	c.Limits.Large = []string{"JSON"}
	c.Scalars = scalar.Checks()
	return c
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
