package server

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/gqlhttp"
)

type fail func(http.ResponseWriter, *http.Request, error)

const requestIDHeader = "X-Request-Id"

var wellFormedRequestID = regexp.MustCompile(`^[A-Za-z0-9._:/+=-]{1,128}$`)

// requestID takes the caller's request id over where it is well-formed, and makes one otherwise.
func requestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(requestIDHeader)
		if !wellFormedRequestID.MatchString(id) {
			id = "req_" + rand.Text()
		}
		w.Header().Set(requestIDHeader, id)
		next.ServeHTTP(w, r.WithContext(actor.WithRequestID(r.Context(), id)))
	})
}

// nosniff lets browsers take no answer for anything but what its Content-Type says.
func nosniff(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}

// noted is what the log line of a request learns further in.
type noted struct {
	mu    sync.Mutex
	actor *actor.Actor
}

// who is the actor, Anonymous where none was noted.
func (n *noted) who() *actor.Actor {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.actor == nil {
		return actor.Anonymous()
	}
	return n.actor
}

type notedKey struct{}

// accessLog writes one line for each request.
func accessLog(log *slog.Logger) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			begun := time.Now()
			var n noted
			ctx := context.WithValue(r.Context(), notedKey{}, &n)
			written := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
			next.ServeHTTP(written, r.WithContext(ctx))
			who := n.who()
			log.LogAttrs(ctx, slog.LevelInfo, "request",
				slog.String("requestId", actor.RequestID(ctx)),
				slog.String("method", r.Method),
				slog.String("route", chi.RouteContext(ctx).RoutePattern()),
				slog.String("actor", who.Name),
				slog.String("organization", who.OrganizationID),
				slog.Int("status", written.Status()),
				slog.Int("bytes", written.BytesWritten()),
				slog.Duration("duration", time.Since(begun)),
			)
		})
	}
}

// via notes the surface that a request came in by, and the actor for the log line.
func via(c actor.Channel) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			a := actor.From(r.Context()).Via(c)
			note(r.Context(), a)
			next.ServeHTTP(w, r.WithContext(actor.With(r.Context(), a)))
		})
	}
}

func note(ctx context.Context, a *actor.Actor) {
	if n, ok := ctx.Value(notedKey{}).(*noted); ok {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.actor = a
	}
}

// exceptSockets leaves out the requests for sockets, whose callers say who they are in a message.
func exceptSockets(middlewares ...func(http.Handler) http.Handler) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		others := chi.Chain(middlewares...).Handler(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if gqlhttp.IsUpgrade(r) {
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
					log.ErrorContext(r.Context(), "panic", "requestId", actor.RequestID(r.Context()), "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
					f(w, r, fault.New(fault.ServerInternal, "Internal server error."))
				}
			}()
			next.ServeHTTP(w, r)
		})
	}
}

// sameOrigin refuses writes that a browser sends from another site's page.
func sameOrigin(f fail) func(http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f(w, r, fault.New(fault.RequestCrossOrigin, "The request was sent by a page of another origin."))
	}))
	return protection.Handler
}

// bounded ends the execution of a REST request after a time. GraphQL has streams, and bounds each of
// its operations itself.
func bounded(timeout time.Duration) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), timeout)
			defer cancel()
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}
