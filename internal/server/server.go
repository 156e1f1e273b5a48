package server

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"slipway"
	"slipway/graph"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/store"
	"slipway/internal/edge/auth"
	"slipway/internal/edge/gqlhttp"
	"slipway/internal/edge/gqlhttp/document"
	"slipway/internal/edge/gqlhttp/stream"
	"slipway/internal/edge/gqlhttp/wire"
	"slipway/internal/edge/httpx"
	"slipway/internal/edge/origin"
	"slipway/internal/edge/quota"
	"slipway/internal/edge/requestlog"
	"slipway/internal/metrics"
	"slipway/internal/service/retention"
	"slipway/rest"
	"slipway/web"
)

// Where the surfaces are that have one path.
const (
	pathGraphQL   = "/graphql"
	pathExplorer  = "/playground"
	pathDocuments = "/docs"
)

// Config says how to serve.
type Config struct {
	// BaseURL is where the API is reached, without a slash at its end; empty for relative links. A path in it is a
	// proxy's: the server itself serves at its root.
	BaseURL string
	// Introspection lets callers ask for the GraphQL schema, also at /schema.graphql.
	Introspection bool
	// Playground serves the explorer at /playground, as Explorer says, and the REST documents at /docs.
	Playground bool
	// Version is that of the program, which the REST documents show, and refusals of operations over GraphQL.
	Version  string
	Explorer web.Config
	// Trusted are the GraphQL documents that callers may name; nil for none.
	Trusted *gqlhttp.Trusted
	// MaxBody and MaxQuery bound a request's body and a GraphQL document's text, in bytes; 0 stands for
	// gqlhttp.DefaultMaxBody and wire.DefaultMaxQuery.
	MaxBody  int64
	MaxQuery int
	// Timeout bounds the execution of a request, and of each event of a subscription; 0 stands for
	// stream.DefaultTimeout.
	Timeout time.Duration
	// Limits bound a GraphQL operation, Bucket what a caller may spend on all of them.
	Limits document.Limits
	Bucket quota.Bucket
	// MaxRequests is how many requests a caller may have in flight, of either surface; 0 is without limit.
	MaxRequests int
	// MaxOperations is how many operations of GraphQL and requests of REST are executed at once, of all callers
	// together; 0 stands for 8 for each processor.
	MaxOperations int
	// Streams says how streams and sockets behave; who may open one, the Timeout and the Requests are put in.
	// Its WriteTimeout is also that of every other answer.
	Streams stream.Config
	// TrustedProxies are the networks of proxies, whose X-Forwarded-For is believed and whose Host is taken.
	TrustedProxies []netip.Prefix
	// Origins are those whose pages may use the API, besides its own.
	Origins []origin.Pattern
	// LoopbackOnly refuses the requests of others whose Host is neither this machine nor that of BaseURL.
	LoopbackOnly bool
	// MaxFailures is how many authentications of one address may fail within a minute before its tokens are
	// looked up one at a time; 0 stands for auth.DefaultMaxFailures.
	MaxFailures int
	// EventTokenHeader is the header in which the events of the cloud may bear their token, besides Authorization; empty
	// for none.
	EventTokenHeader string
	// Lease is how long a runner may be silent; 0 stands for deployment.DefaultLease.
	Lease time.Duration
	// CancelTimeout is how long a program may take to end once its cancellation was requested; 0 stands for
	// deployment.DefaultCancelTimeout.
	CancelTimeout time.Duration
	// Keep says for how long details of deployments and the audit are kept.
	Keep retention.Keep
	Log  *slog.Logger
	// Trace gives requests their spans; nil for none.
	Trace func(http.Handler) http.Handler
	// Now is the clock, store.Now if it is nil.
	Now func() time.Time
}

func (c Config) withDefaults() Config {
	c.MaxBody = cmp.Or(c.MaxBody, gqlhttp.DefaultMaxBody)
	c.MaxQuery = cmp.Or(c.MaxQuery, wire.DefaultMaxQuery)
	c.Limits = c.Limits.WithDefaults()
	c.Timeout = cmp.Or(c.Timeout, stream.DefaultTimeout)
	c.Log = cmp.Or(c.Log, slog.Default())
	if c.Now == nil {
		c.Now = store.Now
	}
	return c
}

// basePath is the path of BaseURL, empty if it has none.
func (c Config) basePath() string {
	u, err := url.Parse(c.BaseURL)
	if err != nil {
		return ""
	}
	return strings.TrimRight(u.EscapedPath(), "/")
}

// Server is the API over one store.
type Server struct {
	// Services are what the API calls.
	Services *Services
	// Metrics count what the server does.
	Metrics *metrics.Metrics
	streams *stream.Streams
	handler http.Handler
}

// New makes the API over a store.
func New(s *store.Store, c Config) *Server {
	c = c.withDefaults()
	services := NewServices(s, c.Log, c.Now, c.BaseURL)
	services.Deploy.Execution.LeaseTime, services.Deploy.Execution.CancelTimeout = c.Lease, c.CancelTimeout
	services.Retention.Keep = c.Keep
	tokens := auth.New(services.Accounts, c.Now, c.MaxFailures)
	services.Accounts.Revoked = tokens.Forget
	organizations := auth.NewOrganizations(services.Accounts, c.Now)
	c.Streams.Authenticate, c.Streams.Timeout = callers(tokens, organizations, c.Log), c.Timeout
	c.Streams.Requests, c.Streams.OriginChecked = requestsInFlight(c.MaxRequests), true
	c.Streams.Turns = operationsAtOnce(c.MaxOperations, c.Timeout/2)
	streams := stream.New(c.Streams)
	m := metrics.New()
	measure(m, s, services, streams)
	handler := routes(services, tokens, organizations, streams, m, c)
	if c.Trace != nil {
		handler = c.Trace(handler)
	}
	return &Server{Services: services, Metrics: m, streams: streams, handler: handler}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Shutdown ends the open streams and sockets in order, each told, and refuses new ones. It waits for
// them as long as the context lasts, whose error it gives. Other requests are still served: ending those
// is up to the http.Server.
func (s *Server) Shutdown(ctx context.Context) error { return s.streams.Shutdown(ctx) }

// routes is the way of every request: its id, its client, its log line, the coding of its answer, the end of its
// panics, what is refused whoever asks, then its surface, which authenticates it.
func routes(
	services *Services, tokens *auth.Authenticator, organizations *auth.Organizations, streams *stream.Streams,
	m *metrics.Metrics, c Config,
) http.Handler {
	resolver := services.Resolver()
	resolver.Wait = streams.Wait
	costs := quota.NewCosts(c.Bucket, c.Now)
	base := c.basePath()
	surface := rest.Surface{
		Log: c.Log, BasePath: base, MaxBody: c.MaxBody, MaxAnswer: c.Limits.Answer, MaxCost: c.Limits.Cost, Costs: costs,
		Turns:   streams.Turns,
		Waiting: rest.Waiting{Most: stream.MaxWait, Watch: services.Deploy.View.Feed.WatchDeployment, Wait: streams.Wait},
		Enter:   entering(organizations),
	}

	r := chi.NewRouter()
	refuse := bySurface(surface.Fail)
	r.Use(nosniff, cutStalled(
		streams.WriteTimeout,
	), httpx.Client(c.TrustedProxies), accessLog(c.Log, m), httpx.Compress(httpx.MaxCompressors), recovered(c.Log, refuse),
		tokenHeader(rest.PathECSEvents, c.EventTokenHeader), closeCrowded,
		crossOrigin(origin.New(c.BaseURL, c.Origins), c.Log, refuse), uncrowded(refuse), middleware.GetHead)
	if c.LoopbackOnly {
		r.Use(loopbackOnly(c.BaseURL, refuse))
	}
	r.NotFound(surface.NotFound)
	r.MethodNotAllowed(otherMethod(refuse, surface.NotFound))

	r.Group(func(r chi.Router) {
		refuse := refuseGraphQL(c.Log)
		r.Use(
			vary(callerHeaders...),
			exceptSockets(tokens.Middleware(actor.GraphQL, refuse), identify, within(organizations, refuse)),
		)
		endpoint := graph.NewHandler(resolver, graph.Config{
			HTTP: gqlhttp.HTTP{
				MaxBody: c.MaxBody, MaxQuery: c.MaxQuery, Timeout: c.Timeout, Streams: streams, Requests: streams.Requests,
				Version: c.Version,
			},
			Server: gqlhttp.Config{
				Introspection: c.Introspection,
				Trusted:       c.Trusted,
				Limits:        c.Limits,
				Costs:         costs,
				Turns:         streams.Turns,
				Presenter:     gqlhttp.Presenter{Log: c.Log},
			},
		})
		r.Method(http.MethodGet, pathGraphQL, endpoint)
		r.Method(http.MethodPost, pathGraphQL, endpoint)
	})
	r.Group(func(r chi.Router) {
		r.Use(
			vary(append([]string{"Accept"}, callerHeaders...)...), bounded(c.Timeout, surface.Waiting),
			tokens.Middleware(actor.REST, surface.Fail), identify, inFlight(streams.Requests, surface.FailKnown),
		)
		surface.Routes(r, resolver.Query(), resolver.Mutation(), services.Deploy.CloudEvents)
	})
	r.Get("/openapi.json", staticText("application/json", rest.OpenAPI(base)))
	if c.Introspection {
		r.Get("/schema.graphql", staticText("text/plain", slipway.Schema))
	}
	if c.Playground {
		r.Mount(pathExplorer, web.Explorer(c.Explorer, web.GraphiQL()))
		r.Mount(pathDocuments, web.Documents(c.Version))
		r.Get("/", http.RedirectHandler(base+pathExplorer, http.StatusFound).ServeHTTP)
	}
	return r
}

// bySurface answers with an error as the surface of the request's path has it.
func bySurface(others fail) fail {
	return func(w http.ResponseWriter, r *http.Request, err error) {
		if r.URL.Path == pathGraphQL {
			wire.Refuse(w, r, err)
			return
		}
		others(w, r, err)
	}
}

// refuseGraphQL answers requests that have a bad token or name an organization that they may not; what is the
// server's own failure is logged.
func refuseGraphQL(log *slog.Logger) func(http.ResponseWriter, *http.Request, error) {
	return func(w http.ResponseWriter, r *http.Request, err error) {
		unverified(r.Context(), log, err)
		wire.Refuse(w, r, err)
	}
}

// callers gives streams the context of their caller, who acts where its request says.
func callers(
	tokens *auth.Authenticator, organizations *auth.Organizations, log *slog.Logger,
) func(*http.Request) (context.Context, error) {
	return func(r *http.Request) (context.Context, error) {
		isOpen := actor.From(r.Context()) != nil
		verify := tokens.Authenticate
		if isOpen {
			verify = tokens.Recheck
		}
		who, err := verify(r)
		if err == nil {
			who, err = organizations.Enter(r.Context(), who.Via(actor.GraphQL), r.Header)
		}

		if err != nil {
			if !isOpen { // one that is goes on where its caller cannot be known, and asks again soon
				unverified(r.Context(), log, err)
			}
			return nil, err
		}
		if isOpen {
			return actor.With(r.Context(), who), nil
		}

		identified(r.Context(), who)
		// A socket's operations are many, and its log line is of the handshake.
		return actor.With(requestlog.Apart(r.Context()), who), nil
	}
}

func unverified(ctx context.Context, log *slog.Logger, err error) {
	if fault.IsFailure(err) {
		log.ErrorContext(
			ctx, "a token or an organization could not be looked up", "error", err, "requestId", actor.RequestID(ctx),
		)
	}
}
