package server

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"slipway/internal/data/store"
)

// pinging bounds how long readiness waits for the database.
const pinging = 2 * time.Second

// Health answers whether the server is alive and ready. It is served on a listener of its own.
type Health struct {
	// Ping asks the database.
	Ping func(context.Context) error
	// Fit returns why the server may not serve its database although that answers; nil stands for never.
	Fit func(context.Context) error
	// WritesFail reports whether the storage of the database fails to take writes; nil stands for never.
	WritesFail func() bool
	// Offset measures how far the server's clock is from the database's; nil if it does not matter.
	Offset func(context.Context) (time.Duration, error)
	// Metrics are served beside, at /metrics; nil for none.
	Metrics http.Handler
	// LoopbackOnly refuses requests whose Host is not this machine.
	LoopbackOnly bool

	draining atomic.Bool
}

// Drain lets readiness fail from now on, so that no new requests are sent here.
func (h *Health) Drain() { h.draining.Store(true) }

// Handler serves /metrics, /healthz (alive; never asks the database) and /readyz (database reachable, fit for it, the
// clock near its own, not draining). Where writes fail it is ready all the same, and says so: reads go on, and no other
// server would do better.
func (h *Health) Handler() http.Handler {
	mux := http.NewServeMux()
	readOnly(mux, "/healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok") })
	readOnly(mux, "/readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), pinging)
		defer cancel()
		if why := h.unready(ctx); why != "" {
			say(w, http.StatusServiceUnavailable, why)
			return
		}
		if h.WritesFail != nil && h.WritesFail() {
			say(w, http.StatusOK, "ok\nwrites: failing")
			return
		}
		say(w, http.StatusOK, "ok")
	})

	if h.Metrics != nil {
		readOnly(mux, "/metrics", h.Metrics.ServeHTTP)
	}
	if h.LoopbackOnly {
		return nosniff(underLoopback(mux))
	}
	return nosniff(mux)
}

// unready returns why no requests are to be sent here, "" if they may.
func (h *Health) unready(ctx context.Context) string {
	if h.draining.Load() {
		return "draining"
	}
	if err := h.Ping(ctx); err != nil {
		if lacking, ok := errors.AsType[*store.SettingsError](err); ok {
			return lacking.Error()
		}
		return "database unreachable"
	}

	if h.Fit != nil {
		if err := h.Fit(ctx); err != nil {
			return err.Error()
		}
	}

	if h.Offset == nil {
		return ""
	}
	offset, err := h.Offset(ctx)
	switch {
	case err != nil:
		return "database unreachable"
	case offset.Abs() > maxOffset:
		return "the server's clock differs from the database's: " + describeOffset(offset)
	}

	return ""
}

func say(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n"))
}
