package auth_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"slipway/internal/base/fault"
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

func TestFailuresOfAnAddressAreCountedForAMinute(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for i := range 20 {
		bad := "nonsense"
		if i%2 == 0 {
			bad = w.draw(t).Reveal()
		}
		wantStatus(t, w, here, bad, 401)
		w.pass(time.Second)
	}
	wantLeft := func(address, remaining, reset string) {
		t.Helper()
		answer := w.send(address, "Bearer nonsense")
		if answer.Code != 401 {
			t.Errorf("%d %s", answer.Code, answer.Body)
		}
		wantHeaders(t, answer.Header(), map[string]string{
			"RateLimit-Limit": "20", "RateLimit-Remaining": remaining, "RateLimit-Reset": reset,
		})
	}
	w.pass(40*time.Second - 1)
	wantLeft(here, "0", "2") // the 21st of a minute, with which the first does not count any more
	wantLeft("192.0.2.2:1", "19", "60")
	w.pass(time.Minute - 1)
	wantLeft(here, "18", "1")
	w.pass(1)
	wantLeft(here, "18", "60")
}

func TestRememberedTokenCostsNoLookUpWhateverFailed(t *testing.T) {
	t.Parallel()
	w := setup(t)
	bad := w.draw(t).Reveal()
	for i := range 100 {
		answer := w.send(here, "Bearer "+bad)
		if left := answer.Header().Get("RateLimit-Remaining"); answer.Code != 401 || left != fmt.Sprint(max(0, 19-i)) {
			t.Errorf("%d, %s left after %d failures", answer.Code, left, i+1)
		}
	}
	if w.questions() != 1 {
		t.Errorf("asked %d times for one unknown token", w.questions())
	}
}

func TestFailuresNeverRefuseAGoodToken(t *testing.T) {
	t.Parallel()
	w := setup(t)
	steady := w.issue(t, time.Time{})
	for range 1000 {
		wantStatus(t, w, here, w.draw(t).Reveal(), 401)
		wantStatus(t, w, here, steady.Reveal(), 200)
		wantStatus(t, w, here, w.issue(t, time.Time{}).Reveal(), 200)
		w.pass(time.Second / 5)
	}
	if answer := w.send(here); answer.Code != 200 {
		t.Errorf("anonymous: %d", answer.Code)
	}
}

func TestRevokedTokenFailsLikeAnyOther(t *testing.T) {
	t.Parallel()
	w := setup(t)
	secret := w.issue(t, time.Time{})
	wantStatus(t, w, here, secret.Reveal(), 200)
	w.revoke(secret)
	w.pass(5 * time.Second)
	answer := w.send(here, "Bearer "+secret.Reveal())
	if answer.Code != 401 || answer.Header().Get("RateLimit-Remaining") != "19" {
		t.Errorf("%d, %s left", answer.Code, answer.Header().Get("RateLimit-Remaining"))
	}
}

func TestRecheckIsNoAttempt(t *testing.T) {
	t.Parallel()
	w := setup(t)
	secret := w.issue(t, time.Time{})
	request := from(t.Context(), here, "Bearer "+secret.Reveal())
	if who, err := w.Recheck(request); err != nil || who.ID != "tok_1" {
		t.Errorf("actor %+v, error %v", who, err)
	}
	w.revoke(secret)
	w.pass(5 * time.Second)
	for range 30 {
		if _, err := w.Recheck(request); !fault.Is(err, fault.RequestUnauthenticated) {
			t.Errorf("error %v", err)
		}
	}
	if w.questions() != 2 {
		t.Errorf("asked %d times", w.questions())
	}
	answer := w.send(here, "Bearer nonsense")
	wantHeaders(t, answer.Header(), map[string]string{"RateLimit-Remaining": "19"})
	if who, err := w.Recheck(from(t.Context(), here)); err != nil || !who.IsAnonymous() {
		t.Errorf("without a token: %+v, %v", who, err)
	}
	if _, err := w.Recheck(from(t.Context(), here, "Bearer nonsense")); !fault.Is(err, fault.RequestUnauthenticated) {
		t.Errorf("a malformed token: %v", err)
	}
}

func TestFailuresAreTheHostsOrTheNetworksOfOneCustomer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ first, other, left string }{
		{"[2001:db8::1]:1", "[2001:db8::1]:9", "18"},
		{"[2001:db8::1]:1", "[2001:db8::ffff:1]:1", "18"},
		{"[2001:db8::1]:1", "[2001:db8::2%eth0]:1", "18"},
		{"[2001:db8::1]:1", "[2001:db8:0:1::1]:1", "19"},
		{"[2001:db8::1]:1", "192.0.2.1:1", "19"},
		{"[2001:db8::1]:1", "@", "19"},
		{"[::ffff:192.0.2.1]:1", "192.0.2.1:1", "18"},
		{"192.0.2.1:1", "192.0.2.2:1", "19"},
	} {
		w := setup(t)
		wantStatus(t, w, c.first, "nonsense", 401)
		if left := w.send(c.other, "Bearer nonsense").Header().Get("RateLimit-Remaining"); left != c.left {
			t.Errorf("after a failure of %s, %s has %s left, want %s", c.first, c.other, left, c.left)
		}
	}
}

func TestMemoryOfAddressesIsBounded(t *testing.T) {
	t.Parallel()
	w := setup(t)
	wantStatus(t, w, here, "nonsense", 401)
	for i := range 10_000 {
		wantStatus(t, w, fmt.Sprintf("10.0.%d.%d:1", i/256, i%256), "nonsense", 401)
	}
	if left := w.send(here, "Bearer nonsense").Header().Get("RateLimit-Remaining"); left != "19" {
		t.Errorf("%s left to the first of 10,001 addresses", left)
	}
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
