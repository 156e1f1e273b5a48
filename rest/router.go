// Package rest serves the documented REST operations. It has no rule of its own: a handler decodes the
// request, calls the resolver method that GraphQL calls, and encodes the result.
package rest

import (
	"log/slog"
	"net/http"

	"github.com/go-chi/chi/v5"
)

// Surface is the REST layer.
type Surface struct {
	Log *slog.Logger
	// MaxBody bounds a request's body, in bytes.
	MaxBody int64
}

// Routes adds the operations to a router whose requests have an actor.
func (s Surface) Routes(r chi.Router, q Queries, m Mutations) {}

// Fail answers with an error.
func (s Surface) Fail(w http.ResponseWriter, r *http.Request, err error) {
	http.Error(w, err.Error(), 500)
}

// NotFound answers for a path that nothing is at.
func (s Surface) NotFound(w http.ResponseWriter, r *http.Request) {}

// MethodNotAllowed answers for a method that a path does not take.
func (s Surface) MethodNotAllowed(w http.ResponseWriter, r *http.Request) {}

// ServeOpenAPI serves the OpenAPI document.
func ServeOpenAPI(w http.ResponseWriter, r *http.Request) {}
