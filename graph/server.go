package graph

import (
	"context"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/graph/generated"
	"slipway/graph/plan"
	"slipway/graph/scalar"
	"slipway/internal/data/record"
	"slipway/internal/edge/gqlhttp"
	"slipway/internal/edge/gqlhttp/document"
	"slipway/internal/edge/gqlhttp/stream"
)

// Config is the configuration of the endpoint.
type Config struct {
	HTTP   gqlhttp.HTTP
	Server gqlhttp.Config
}

// NewHandler returns the GraphQL endpoint. Operations are executed by plans, as package plan says.
func NewHandler(r generated.ResolverRoot, c Config) http.Handler {
	return HandlerOf(planned(r, c), c)
}

// HandlerOf returns the same endpoint but for what executes the operations.
func HandlerOf(executable graphql.ExecutableSchema, c Config) http.Handler {
	c.Server = ofSchema(c.Server)
	s := gqlhttp.NewServer(
		executable, c.Server, stream.WebSocket{Streams: c.HTTP.Streams, MaxQuery: c.HTTP.MaxQuery}, c.HTTP,
	)
	s.Use(batching{})
	return s
}

func planned(r generated.ResolverRoot, c Config) graphql.ExecutableSchema {
	return generated.NewPlanSchema(generated.Config{Schema: schema(), Resolvers: r}, plan.Options{
		Operation: func(oc *graphql.OperationContext) *plan.Operation {
			if p := preparedOf(oc); p != nil {
				return p.plans
			}
			return nil
		},
		Observe:  func(ctx context.Context) plan.Observer { return gqlhttp.Observe(ctx) },
		MaxBytes: c.Server.Limits.WithDefaults().Answer,
	})
}

// ReadTrusted reads documents that callers may name, as gqlhttp.ReadTrusted does, for an endpoint of the same Config.
func ReadTrusted(text []byte, c Config) (*gqlhttp.Trusted, error) {
	return gqlhttp.ReadTrusted(text, schema(), ofSchema(c.Server), c.HTTP.MaxQuery)
}

func schema() *ast.Schema {
	return document.StandardSchema(generated.NewPlanSchema(generated.Config{}, plan.Options{}).Schema())
}

// ofSchema adds what is special about this schema to a configuration.
func ofSchema(c gqlhttp.Config) gqlhttp.Config {
	// The strict decoder of inputs bounds how deep they nest.
	c.Limits.FreeInputs = []string{"InputPropertyInput"}
	c.Limits.Large = []string{"JSON"}
	c.Patience = patience
	c.Scalars = scalar.Checks()
	s := schema()
	c.Prepare = func(doc *ast.QueryDocument, op *ast.OperationDefinition) any {
		return &prepared{selectColumns(s, op), plan.Compile(doc, op)}
	}
	return c
}

// prepared is what is kept of an operation.
type prepared struct {
	columns *record.Columns
	plans   *plan.Operation
}

// preparedOf returns what is kept of an operation, nil if it was refused.
func preparedOf(oc *graphql.OperationContext) *prepared {
	p, _ := gqlhttp.Prepared(oc).(*prepared)
	return p
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
	if op := graphql.GetOperationContext(ctx).Operation; op != nil && op.Operation == ast.Subscription {
		ctx = withBatches(ctx)
	}
	return next(withColumns(ctx))
}
