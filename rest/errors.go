package rest

import (
	"context"
	"errors"
	"net/http"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/edge/requestlog"
)

// Fail answers with an error. What fault.IsFailure reports is logged under the id that the caller sees; that time ran
// out, the caller has gone or a queue is full is not.
func (s Surface) Fail(w http.ResponseWriter, r *http.Request, err error) {
	ctx := r.Context()
	if _, known := errors.AsType[*fault.Error](err); !known && isContextEnd(err) {
		err = fault.New(fault.RequestTimeout, "The request took longer than it may, or was given up.").WithCause(err)
	}
	status := fault.Status(err)
	if fault.IsFailure(err) {
		s.Log.ErrorContext(ctx, "REST operation failed", "requestId", actor.RequestID(ctx), "error", err)
	}
	setErrorHeaders(w.Header(), status, err)
	a := actor.From(ctx)
	shown := fault.Public(err, fault.View{RequestID: actor.RequestID(ctx), Superadmin: a != nil && a.IsSuperadmin()})
	line := requestlog.From(ctx)
	line.AddError(fault.Code(shown.Code))
	limit, _ := shown.Metadata["limit"].(string)
	line.Counter().CountError(fault.Code(shown.Code), limit)
	writeJSON(w, status, shown)
}

// isContextEnd reports whether err is the end of a context.
func isContextEnd(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// setErrorHeaders sets the headers that go with a status, unless they are set.
func setErrorHeaders(h http.Header, status int, err error) {
	if status == http.StatusUnauthorized && h.Get("WWW-Authenticate") == "" {
		h.Set("WWW-Authenticate", "Bearer")
	}
	var metadata map[string]any
	if refusal, known := errors.AsType[*fault.Error](err); known {
		metadata = refusal.Metadata
	}
	fault.SetRetryAfter(h, status, metadata)
}

// NotFound answers for a path that nothing is at.
func (s Surface) NotFound(w http.ResponseWriter, r *http.Request) {
	s.Fail(w, r, fault.New(fault.RequestNotFound, "There is nothing at %.100q.", r.URL.Path))
}
