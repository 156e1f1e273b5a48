package server

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"
)

// pinging bounds how long readiness waits for the database.
const pinging = 2 * time.Second

// Health answers whether the server is alive and ready. It is served on a listener of its own.
type Health struct {
	// Ping asks the database.
	Ping func(context.Context) error
	// WritesFail reports whether the storage of the database fails to take writes; nil stands for never.
	WritesFail func() bool
	draining   atomic.Bool
}

// Drain lets readiness fail from now on, so that no new requests are sent here.
func (h *Health) Drain() { h.draining.Store(true) }

// Handler serves /healthz (alive; never asks the database) and /readyz (database reachable, not draining). Where
// writes fail it is ready all the same, and says so: reads go on, and no other server would do better.
func (h *Health) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), pinging)
		defer cancel()
		switch {
		case h.draining.Load():
			say(w, http.StatusServiceUnavailable, "draining")
		case h.Ping(ctx) != nil:
			say(w, http.StatusServiceUnavailable, "database unreachable")
		case h.WritesFail != nil && h.WritesFail():
			say(w, http.StatusOK, "ok\nwrites: failing")
		default:
			say(w, http.StatusOK, "ok")
		}
	})
	return nosniff(mux)
}

func say(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n"))
}
