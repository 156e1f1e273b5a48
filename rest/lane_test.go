package rest_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/edge/auth"
	"slipway/internal/edge/httpx"
	"slipway/internal/test/worldtest"
	"slipway/rest"
)

// silent is a Verifier that does not answer while its test runs.
type silent struct{ asked chan struct{} }

func (v silent) VerifyToken(ctx context.Context, _ string) (*auth.Verified, error) {
	v.asked <- struct{}{}
	<-ctx.Done()
	return nil, ctx.Err()
}

// occupied is an API that looks one token up, for as long as the test runs: others of the same address wait
// until they are refused.
func occupied(t *testing.T) *worldtest.World {
	t.Helper()
	surface := rest.Surface{Log: slog.New(slog.DiscardHandler), MaxBody: 1 << 10}
	verifier := silent{make(chan struct{}, 1)}
	r := chi.NewRouter()
	r.Use(httpx.Client(nil), func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Request-Id", "given")
			next.ServeHTTP(w, r.WithContext(actor.WithRequestID(r.Context(), "given")))
		})
	}, auth.New(verifier, time.Now, 1).Middleware(actor.REST, surface.Fail))
	surface.Routes(r, failing{errInside}, failing{errInside}, failing{errInside})
	listening := httptest.NewServer(r)
	t.Cleanup(listening.Close)

	first, err := http.NewRequestWithContext(t.Context(), http.MethodGet, listening.URL+"/module-definitions", nil)
	if err != nil {
		t.Fatal(err)
	}
	first.Header.Set("Authorization", "Bearer "+drawn(t, "first"))
	go func() {
		if answer, err := http.DefaultClient.Do(first); err == nil {
			_ = answer.Body.Close()
		}
	}()
	<-verifier.asked
	return &worldtest.World{URL: listening.URL}
}

// drawn is a token, always the same one of a seed.
func drawn(t *testing.T, seed string) string {
	t.Helper()
	secret, err := auth.Generate(actor.Viewer, io.LimitReader(strings.NewReader(strings.Repeat(seed, 32)), 32))
	if err != nil {
		t.Fatal(err)
	}
	return secret.Reveal()
}

func TestTokensThatWaitedInVainAreToldWhenToComeBack(t *testing.T) {
	t.Parallel()
	w := occupied(t)
	var asking sync.WaitGroup
	for operation, e := range requests {
		e.token = drawn(t, "second")
		asking.Go(func() { golden(t, w, operation+"/429", e, ask(t, w, e)) })
	}
	asking.Go(func() {
		e := exchange{http.MethodPatch, "/default-value-definitions/x", drawn(t, "third"), "{", map[string]string{"Content-Type": "text/plain"}}
		if got := ask(t, w, e); got.Status != http.StatusTooManyRequests || got.Code(t) != string(fault.RequestRateLimited) {
			t.Errorf("before the body is looked at: %d %s", got.Status, got.Body)
		}
	})
	asking.Wait()
}
