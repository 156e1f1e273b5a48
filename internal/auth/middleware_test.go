package auth_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"slipway/internal/auth"
)

const here = "192.0.2.1:1234"

func TestMiddlewareAttachesTheActor(t *testing.T) {
	t.Parallel()
	w := setup(t)
	if answer := w.send(here); answer.Code != 200 || answer.Body.String() != "anonymous" {
		t.Errorf("without a token: %d %s", answer.Code, answer.Body)
	}
	answer := w.send(here, "Bearer "+w.issue(t, time.Time{}).Reveal())
	if answer.Code != 200 || answer.Body.String() != "ci" || len(answer.Header()) > 1 {
		t.Errorf("with a token: %d %s %v", answer.Code, answer.Body, answer.Header())
	}
}

func TestBadTokenIsChallenged(t *testing.T) {
	t.Parallel()
	answer := setup(t).send(here, "Bearer nonsense")
	if answer.Code != http.StatusUnauthorized {
		t.Errorf("status %d", answer.Code)
	}
	wantHeaders(t, answer.Header(), map[string]string{
		"WWW-Authenticate":    `Bearer error="invalid_token"`,
		"RateLimit-Limit":     "20",
		"RateLimit-Remaining": "19",
		"RateLimit-Reset":     "60",
		"Retry-After":         "",
	})
}

func TestFailingVerifierIsNotHeldAgainstTheAddress(t *testing.T) {
	t.Parallel()
	w := setup(t)
	secret := w.issue(t, time.Time{})
	w.broken = errors.New("connection refused")
	for range 30 {
		answer := w.send(here, "Bearer "+secret.Reveal())
		if answer.Code != 500 || answer.Header().Get("WWW-Authenticate") != "" {
			t.Fatalf("%d %v", answer.Code, answer.Header())
		}
	}
	w.broken = nil
	if answer := w.send(here, "Bearer "+secret.Reveal()); answer.Code != 200 {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
}

func TestTwentyFailuresAMinuteAreAllowedToAnAddress(t *testing.T) {
	t.Parallel()
	w := setup(t)
	steady := w.issue(t, time.Time{})
	wantStatus(t, w, here, steady.Reveal(), 200)
	for i := range 20 {
		bad := "nonsense"
		if i%2 == 0 {
			bad = w.draw(t).Reveal()
		}
		wantStatus(t, w, here, bad, 401)
		w.pass(time.Second)
	}
	asked := w.questions()
	answer := w.send(here, "Bearer "+w.draw(t).Reveal())
	if answer.Code != 429 || !strings.Contains(answer.Body.String(), "20 a minute") || w.questions() != asked {
		t.Errorf("%d %s after %d questions more", answer.Code, answer.Body, w.questions()-asked)
	}
	wantHeaders(t, answer.Header(), map[string]string{
		"Retry-After": "40", "RateLimit-Limit": "20", "RateLimit-Remaining": "0", "RateLimit-Reset": "40", "WWW-Authenticate": "",
	})
	wantStatus(t, w, here, "nonsense", 429)
	wantStatus(t, w, here, w.issue(t, time.Time{}).Reveal(), 429)
	wantStatus(t, w, "192.0.2.2:1", "nonsense", 401)
	// What was good here before is asked for again, though the last answer is over five seconds old.
	wantStatus(t, w, here, steady.Reveal(), 200)
	if answer := w.send(here); answer.Code != 200 {
		t.Errorf("anonymous over the limit: %d", answer.Code)
	}
	w.pass(40*time.Second - 1)
	answer = w.send(here, "Bearer nonsense")
	if answer.Code != 429 || answer.Header().Get("Retry-After") != "1" {
		t.Errorf("a nanosecond before the end: %d, Retry-After %q", answer.Code, answer.Header().Get("Retry-After"))
	}
	w.pass(1)
	wantStatus(t, w, here, "nonsense", 401)
	wantStatus(t, w, here, "nonsense", 429)
}

func TestTokenRevokedOverTheLimitIsRefusedOnceAndThenLimited(t *testing.T) {
	t.Parallel()
	w := setup(t)
	secret := w.issue(t, time.Time{})
	wantStatus(t, w, here, secret.Reveal(), 200)
	for range 20 {
		wantStatus(t, w, here, "nonsense", 401)
	}
	w.revoke(secret)
	w.pass(5 * time.Second)
	wantStatus(t, w, here, secret.Reveal(), 401)
	wantStatus(t, w, here, secret.Reveal(), 429)
}

func TestFailuresAtTheSameTimeLeaveNothingButNoDebt(t *testing.T) {
	t.Parallel()
	w := setup(t)
	synctest.Test(t, func(t *testing.T) {
		verifier := slow{asked: make(chan struct{}, 25), answer: make(chan error)}
		w.Authenticator = auth.New(verifier, time.Now)
		var waiting sync.WaitGroup
		for range 25 {
			token := w.draw(t).Reveal()
			waiting.Go(func() { w.send(here, "Bearer "+token) })
		}
		synctest.Wait()
		for range 25 {
			verifier.answer <- auth.ErrUnknownToken
		}
		waiting.Wait()
		answer := w.send(here, "Bearer nonsense")
		if answer.Code != 429 {
			t.Errorf("status %d", answer.Code)
		}
		wantHeaders(t, answer.Header(), map[string]string{"RateLimit-Remaining": "0", "Retry-After": "60"})
	})
}

func TestAddressIsTheHostOrTheNetworkOfOneCustomer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		other string
		same  bool
	}{
		"another port":          {"[2001:db8::1]:9", true},
		"same /64":              {"[2001:db8::ffff:1]:1", true},
		"same /64 with a zone":  {"[2001:db8::2%eth0]:1", true},
		"another /64":           {"[2001:db8:0:1::1]:1", false},
		"IPv4":                  {"192.0.2.1:1", false},
		"no address of the net": {"@", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			for range 20 {
				wantStatus(t, w, "[2001:db8::1]:1", "nonsense", 401)
			}
			want := 401
			if c.same {
				want = 429
			}
			wantStatus(t, w, c.other, "nonsense", want)
		})
	}
	w := setup(t)
	for range 20 {
		wantStatus(t, w, "[::ffff:192.0.2.1]:1", "nonsense", 401)
	}
	wantStatus(t, w, "192.0.2.1:1", "nonsense", 429)
	wantStatus(t, w, "192.0.2.2:1", "nonsense", 401)
}

func TestMemoryOfAddressesIsBounded(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for range 20 {
		wantStatus(t, w, here, "nonsense", 401)
	}
	for i := range 10_000 {
		wantStatus(t, w, fmt.Sprintf("10.0.%d.%d:1", i/256, i%256), "nonsense", 401)
	}
	wantStatus(t, w, here, "nonsense", 401)
}

func wantStatus(t *testing.T, w *world, address, token string, want int) {
	t.Helper()
	if answer := w.send(address, "Bearer "+token); answer.Code != want {
		t.Fatalf("%s: %d %s, want %d", address, answer.Code, answer.Body, want)
	}
}

func wantHeaders(t *testing.T, h http.Header, want map[string]string) {
	t.Helper()
	for name, value := range want {
		if h.Get(name) != value {
			t.Errorf("%s: %q, want %q", name, h.Get(name), value)
		}
	}
}
