package server

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/tracing"
	"slipway/internal/edge/auth"
	"slipway/internal/edge/gqlhttp/stream"
	"slipway/internal/edge/httpx"
	"slipway/internal/edge/requestlog"
	"slipway/internal/metrics"
	"slipway/rest"
)

type fail func(http.ResponseWriter, *http.Request, error)

const requestIDHeader = "X-Request-Id"

var wellFormedRequestID = regexp.MustCompile(`^[A-Za-z0-9._:/+=-]{1,128}$`)

// requestID returns the caller's request id if it is well-formed, and makes one otherwise.
func requestID(r *http.Request) string {
	if id := r.Header.Get(requestIDHeader); id != "" && wellFormedRequestID.MatchString(id) {
		return id
	}
	return "req_" + rand.Text()
}

// nosniff forbids browsers to take an answer for anything but what its Content-Type says.
func nosniff(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}

// maxAttrs is how many attributes the line of a request has at most.
const maxAttrs = 13

// accessLog gives each request its id, and writes one line for it when it has been answered, and counts it.
func accessLog(log *slog.Logger, m *metrics.Metrics) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			begun := time.Now()
			id := requestID(r)
			w.Header().Set(requestIDHeader, id)
			ctx, line := requestlog.With(actor.WithRequestID(r.Context(), id), m)
			written := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
			next.ServeHTTP(written, r.WithContext(ctx))
			// What may be written later holds on to nothing of the connection, and chi takes its context back.
			method, route, status, bytes := requestlog.Shorten(r.Method), chi.RouteContext(ctx).
				RoutePattern(), written.Status(), written.BytesWritten()

			span := tracing.Of(ctx)
			if span.IsRecorded() {
				span.SetName(method + " " + route)
				span.SetText("http.route", route)
				span.SetText("slipway.request_id", id)
			}

			line.End(func() {
				status, bytes := line.Answer(status, bytes)
				now := time.Now()
				m.CountRequest(metrics.Request{
					Route: route, Method: method, Status: status, Cost: line.Cost(), Took: now.Sub(begun), IsStream: line.IsStream(),
				})

				attrs := append(make([]slog.Attr, 0, maxAttrs),
					slog.String("requestId", id),
					slog.String("client", clientOf(ctx)),
					slog.String("method", method),
					slog.String("route", route),
					slog.Int("status", status),
					slog.Int("bytes", bytes),
					slog.Duration("duration", now.Sub(begun)),
				)

				if span.IsRecorded() {
					attrs = append(attrs, slog.String("traceId", span.TraceID()))
				}
				record := slog.NewRecord(now, slog.LevelInfo, "request", 0) // no log has the line of the source, which takes time
				record.AddAttrs(line.AppendAttrs(attrs)...)
				if h := log.Handler(); h.Enabled(ctx, record.Level) {
					_ = h.Handle(ctx, record) // what cannot be logged cannot be said either
				}
			})
		})
	}
}

// clientOf returns the address of the request's client, empty if it has none.
func clientOf(ctx context.Context) string {
	if address := httpx.ClientAddress(ctx); address.IsValid() {
		return address.String()
	}
	return ""
}

// identify notes whose request it is, once that is known.
func identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		identified(r.Context(), actor.From(r.Context()))
		next.ServeHTTP(w, r)
	})
}

// tokenHeader has the requests of one path bear their token in a header of its own, if it is not empty: event buses
// send a key so. It becomes the token of Authorization, and is then like every other; a request with both has two.
func tokenHeader(path, header string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if keys := r.Header.Values(header); header != "" && r.URL.Path == path && len(keys) > 0 {
				r = r.Clone(r.Context())
				r.Header.Del(header)
				for _, key := range keys {
					r.Header.Add("Authorization", "Bearer "+key)
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}

// callerHeaders are those that say who asks, and where it acts.
var callerHeaders = []string{"Authorization", httpx.OrganizationHeader}

// vary names to caches the headers of the request that an answer depends on.
func vary(headers ...string) func(http.Handler) http.Handler {
	names := strings.Join(headers, ", ")
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Add("Vary", names)
			next.ServeHTTP(w, r)
		})
	}
}

// within lets a request run where it says.
func within(o *auth.Organizations, f fail) func(http.Handler) http.Handler {
	enter := entering(o)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, err := enter(r)
			if err != nil {
				if fault.Is(err, fault.RequestUnauthenticated) {
					w.Header().Set("WWW-Authenticate", "Bearer")
				}
				f(w, r, err)
				return
			}
			if ctx != r.Context() {
				r = r.WithContext(ctx)
			}
			next.ServeHTTP(w, r)
		})
	}
}

// entering returns the context of a request whose actor acts where the request says; it is that of the request where
// that says nothing.
func entering(o *auth.Organizations) func(*http.Request) (context.Context, error) {
	return func(r *http.Request) (context.Context, error) {
		asks := actor.From(r.Context())
		who, err := o.Enter(r.Context(), asks, r.Header)
		if err != nil || who == asks {
			return r.Context(), err
		}
		requestlog.From(r.Context()).SetActor(who)
		return actor.With(r.Context(), who), nil
	}
}

// identified notes on the log line and the connection whose request it is.
func identified(ctx context.Context, a *actor.Actor) {
	requestlog.From(ctx).SetActor(a)
	if !a.IsAnonymous() {
		httpx.TokenIsGood(ctx)
	}
}

// closeCrowded ends a connection over the limit of those without a good token with its first answer.
func closeCrowded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, over := httpx.OverLimit(r.Context()); over {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// uncrowded refuses requests on such a connection. One that may have a good token is let on, so that nobody
// who has one is shut out.
func uncrowded(f fail) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			most, over := httpx.OverLimit(r.Context())
			if !over || r.Header.Get("Authorization") != "" {
				next.ServeHTTP(w, r)
				return
			}
			const retry = 5
			refusal := fault.New(fault.RequestRateLimited,
				"Your address has as many connections without a good token as it may, %d (--max-anonymous-connections). Send a "+
					"token, or try again in %d s.", most, retry)
			refusal.Metadata = map[string]any{"limit": "anonymousConnections", "value": most, "retryAfterSeconds": retry}
			f(w, r, refusal)
		})
	}
}

// exceptSockets leaves out the requests for sockets, whose callers say who they are in a message.
func exceptSockets(middlewares ...func(http.Handler) http.Handler) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		others := chi.Chain(middlewares...).Handler(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if stream.IsUpgrade(r) {
				next.ServeHTTP(w, r)
			} else {
				others.ServeHTTP(w, r)
			}
		})
	}
}

// recovered answers a request that panics with an internal error; the process lives.
func recovered(log *slog.Logger, f fail) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() {
				switch p := recover(); p {
				case nil:
				case http.ErrAbortHandler:
					panic(p)
				default:
					log.ErrorContext(
						r.Context(), "a request panicked", "requestId", actor.RequestID(r.Context()), "panic", fmt.Sprint(p), "stack",
						string(debug.Stack()),
					)
					f(w, r, fault.New(fault.ServerInternal, "Internal server error."))
				}
			}()
			next.ServeHTTP(w, r)
		})
	}
}

// bounded ends the execution of a REST request after a time, besides that which it prefers to wait. GraphQL has
// streams, and bounds each of its operations itself.
func bounded(timeout time.Duration, waiting rest.Waiting) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			patience, _ := waiting.Patience(r) // a malformed one is refused where it counts
			ctx, cancel := context.WithTimeout(r.Context(), timeout+patience)
			defer cancel()
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}
