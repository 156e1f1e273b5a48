// Package rest serves the documented REST operations. It has no rule of its own: an operation decodes
// the request, calls the resolver method that GraphQL calls, and encodes the result.
package rest

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/go-chi/chi/v5"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
	"slipway/internal/base/turns"
	"slipway/internal/edge/httpx"
	"slipway/internal/edge/quota"
)

// Surface is the REST layer.
type Surface struct {
	Log *slog.Logger
	// BasePath is what callers have before the paths of the operations, without a slash at its end: a proxy takes
	// it away. Links begin with it.
	BasePath string
	// MaxBody bounds a request's body, in bytes.
	MaxBody int64
	// MaxAnswer is from how many bytes on the page of a list ends early; 0 is without end.
	MaxAnswer int
	// MaxCost bounds what the work of one request may cost, Costs what a caller may spend on all requests. If they
	// are zero there is no limit.
	MaxCost int
	Costs   *quota.Costs
	// Turns bounds how many operations are executed at once, here and over GraphQL; nil is without limit.
	Turns *turns.Turns
	// Waiting is how requests wait.
	Waiting Waiting
	// Enter returns the context of a request whose actor acts in the organization that the request names. The
	// errors are RequestInvalid for a header that can name none, and OrganizationNotFound. If it is nil, the
	// actor acts where it does.
	Enter func(*http.Request) (context.Context, error)
}

// operation is one method of one path.
type operation struct {
	method, path string
	// public operations answer callers without a token too, and have no answer for what is not there.
	public bool
	// cost is what a request costs before it is read.
	cost   int
	answer func(request) (answer, error)
}

// PathECSEvents is where the events of the cloud's container service are taken.
const PathECSEvents = "/integrations/ecs/events"

// operations returns the operations in the order of the OpenAPI document.
func operations(q Queries, m Mutations, i Integrations, w Waiting) []operation {
	return []operation{
		{
			method: http.MethodPatch, path: "/default-value-definitions/{id}", answer: updateDefaultValueDefinition(m), cost: 10,
		},
		{method: http.MethodGet, path: "/module-definitions", answer: listModuleDefinitions(q), public: true, cost: 1},
		{method: http.MethodGet, path: "/deployments/{id}", answer: getDeployment(q, w), cost: 2},
		{method: http.MethodPost, path: "/deployments/{id}/rollback", answer: rollbackDeployment(m), cost: 10},
		{method: http.MethodPost, path: "/deployments/{id}/redeploy", answer: redeployDeployment(m), cost: 10},
		{method: http.MethodPost, path: PathECSEvents, answer: receiveECSEvent(i), cost: 10},
	}
}

// Routes adds the operations to a router whose requests have an actor.
func (s Surface) Routes(r chi.Router, q Queries, m Mutations, i Integrations) {
	for _, o := range operations(q, m, i, s.Waiting) {
		r.MethodFunc(o.method, o.path, s.serve(o))
	}
}

// serve returns the handler of an operation. What does not depend on the operation is checked here, in
// the documented order; the operation's own checks follow.
func (s Surface) serve(o operation) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a, err := s.answer(o, w, r)
		if err != nil {
			s.Fail(w, r, err)
			return
		}
		if a.location != "" {
			w.Header().Set("Location", s.BasePath+a.location)
		}
		a.write(w, r)
	}
}

// answer charges for a request, reads it and runs its operation.
func (s Surface) answer(o operation, w http.ResponseWriter, r *http.Request) (answer, error) {
	named := r.Header.Values(httpx.OrganizationHeader) != nil
	if actor.From(r.Context()).IsAnonymous() && (!o.public || named) {
		return answer{}, fault.New(fault.RequestUnauthenticated, "A bearer token is needed here; none was sent.")
	}
	r, settle, err := s.charge(w, r, o.cost)
	if err != nil {
		return answer{}, err
	}
	defer settle()

	if err := acceptsJSON(r.Header); err != nil {
		return answer{}, err
	}
	body, err := readBody(w, r, s.MaxBody)
	if err != nil {
		return answer{}, err
	}

	const kib = 1 << 10 // less is not counted
	if err := meter.Spend(r.Context(), meter.Inputs, len(body)/kib*kib); err != nil {
		return answer{}, err
	}
	if err := s.Turns.Take(r.Context(), httpx.Caller(r.Context())); err != nil {
		return answer{}, err
	}
	defer s.Turns.Leave()

	return o.answer(request{r, body, s.MaxAnswer, func() (context.Context, error) { return s.enter(o, r) }})
}

// enter returns the context that an operation runs in, once nothing is wrong with the request itself. A public
// operation has no answer for an organization that is not there: its error is RequestForbidden then.
func (s Surface) enter(o operation, r *http.Request) (context.Context, error) {
	if s.Enter == nil {
		return r.Context(), nil
	}
	ctx, err := s.Enter(r)
	if refusal, ok := errors.AsType[*fault.Error](err); ok && o.public && refusal.Code == fault.OrganizationNotFound {
		return nil, fault.New(fault.RequestForbidden, "%s", refusal.Message)
	}
	return ctx, err
}
