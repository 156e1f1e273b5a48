package auth_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/edge/auth"
	"slipway/internal/edge/httpx"
)

// world is an Authenticator with a clock and a Verifier that the test holds in its hands.
type world struct {
	*auth.Authenticator
	mu     sync.Mutex
	time   time.Time
	tokens map[string]auth.Verified
	asked  int
	broken error
	// during runs while a question is asked.
	during func(hash string)
	drawn  atomic.Uint64
}

func setup(t testing.TB) *world {
	t.Helper()
	w := &world{time: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), tokens: map[string]auth.Verified{}}
	w.Authenticator = auth.New(w, w.now, 0)
	return w
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.time
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.time = w.time.Add(d)
}

// VerifyToken implements auth.Verifier.
func (w *world) VerifyToken(_ context.Context, hash string) (*auth.Verified, error) {
	if w.during != nil {
		defer w.during(hash)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	if w.broken != nil {
		return nil, w.broken
	}
	verified, ok := w.tokens[hash]
	if !ok {
		return nil, auth.ErrUnknownToken
	}
	return &verified, nil
}

// draw makes a well-formed token that nobody has issued.
func (w *world) draw(t testing.TB) auth.Secret {
	t.Helper()
	seed := binary.BigEndian.AppendUint64(make([]byte, 24), w.drawn.Add(1))
	secret, err := auth.Generate(actor.Developer, bytes.NewReader(seed))
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// issue makes a token that is valid until expires, or for ever.
func (w *world) issue(t testing.TB, expires time.Time) auth.Secret {
	t.Helper()
	secret := w.draw(t)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tokens[secret.Hash()] = auth.Verified{
		Actor:     &actor.Actor{ID: "tok_1", Name: "ci", Role: actor.Developer, OrganizationID: "org_1"},
		ExpiresAt: expires,
	}
	return secret
}

func (w *world) revoke(secret auth.Secret) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.tokens, secret.Hash())
}

func (w *world) questions() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked
}

// send sends a request from an address through the middleware. The answer's body is the name of the
// actor or the text of the error.
func (w *world) send(address string, authorization ...string) *httptest.ResponseRecorder {
	fail := func(w http.ResponseWriter, _ *http.Request, err error) {
		w.WriteHeader(fault.Status(err))
		_, _ = w.Write([]byte(err.Error()))
	}
	next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(actor.From(r.Context()).Name))
	})
	answer := httptest.NewRecorder()
	w.Middleware(actor.REST, fail)(next).ServeHTTP(answer, from(context.Background(), address, authorization...))
	return answer
}

// from is a request from an address whose client has been found.
func from(ctx context.Context, address string, authorization ...string) (found *http.Request) {
	r := httptest.NewRequest(http.MethodGet, "/", nil).WithContext(ctx)
	r.RemoteAddr = address
	if len(authorization) > 0 {
		r.Header["Authorization"] = authorization
	}
	find := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { found = r })
	httpx.Client(nil)(find).ServeHTTP(nil, r)
	return found
}

func bearing(ctx context.Context, secret auth.Secret) *http.Request {
	return from(ctx, here, "Bearer "+secret.Reveal())
}
