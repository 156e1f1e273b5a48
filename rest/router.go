// Package rest serves the documented REST operations. It has no rule of its own: an operation decodes
// the request, calls the resolver method that GraphQL calls, and encodes the result.
package rest

import (
	"log/slog"
	"net/http"

	"github.com/go-chi/chi/v5"

	"slipway/internal/actor"
	"slipway/internal/fault"
)

// Surface is the REST layer.
type Surface struct {
	Log *slog.Logger
	// MaxBody bounds a request's body, in bytes.
	MaxBody int64
}

// operation is one method of one path.
type operation struct {
	method, path string
	// public operations answer callers without a token too.
	public bool
	answer func(request) (answer, error)
}

func operations(q Queries, m Mutations) []operation {
	return []operation{
		{method: http.MethodPatch, path: "/default-value-definitions/{id}", answer: updateDefaultValueDefinition(m)},
		{method: http.MethodGet, path: "/module-definitions", answer: listModuleDefinitions(q), public: true},
		{method: http.MethodGet, path: "/deployments/{id}", answer: getDeployment(q)},
		{method: http.MethodPost, path: "/deployments/{id}/rollback", answer: rollbackDeployment(m)},
		{method: http.MethodPost, path: "/deployments/{id}/redeploy", answer: redeployDeployment(m)},
	}
}

// Routes adds the operations to a router whose requests have an actor.
func (s Surface) Routes(r chi.Router, q Queries, m Mutations) {
	for _, o := range operations(q, m) {
		r.MethodFunc(o.method, o.path, s.serve(o))
	}
}

// serve answers the requests of an operation. What does not depend on the operation is checked here, in
// the documented order; the operation's own checks follow.
func (s Surface) serve(o operation) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a, err := s.ask(o, w, r)
		if err != nil {
			s.Fail(w, r, err)
			return
		}
		a.write(w, r)
	}
}

func (s Surface) ask(o operation, w http.ResponseWriter, r *http.Request) (answer, error) {
	if !o.public && actor.From(r.Context()).IsAnonymous() {
		return answer{}, fault.New(fault.RequestUnauthenticated, "A bearer token is needed here; none was sent.")
	}
	if err := acceptsJSON(r.Header); err != nil {
		return answer{}, err
	}
	body, err := readBody(w, r, s.MaxBody)
	if err != nil {
		return answer{}, err
	}
	return o.answer(request{r, body})
}
