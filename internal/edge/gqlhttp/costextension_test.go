package gqlhttp_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/edge/gqlhttp"
	"slipway/internal/edge/gqlhttp/document"
	"slipway/internal/edge/httpx"
	"slipway/internal/edge/quota"
	"slipway/internal/test/testkit"
)

// metered is a server whose callers may spend 100 at once and get 10 a second back.
func metered() (server, *testkit.Clock) {
	c := testkit.NewClock(time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC))
	return treeServer(gqlhttp.Config{Costs: quota.NewCosts(quota.Bucket{Capacity: 100, PerSecond: 10}, c.Now), Limits: document.Limits{Cost: 100}}), c
}

func spending(cost int) *http.Request {
	return post(fmt.Sprintf(`{"query":"{ herd(first: %d) { nodes { id @skip(if: true) } } }"}`, cost-2))
}

func by(r *http.Request, id string) *http.Request {
	return r.WithContext(actor.With(r.Context(), &actor.Actor{ID: id, Role: actor.Viewer}))
}

func from(r *http.Request, address string) (found *http.Request) {
	r.RemoteAddr = address
	find := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { found = r })
	httpx.Client(nil)(find).ServeHTTP(nil, r)
	return found.WithContext(actor.With(found.Context(), actor.Anonymous()))
}

func TestTheCostIsForThoseWhoAskForIt(t *testing.T) {
	t.Parallel()
	s, _ := metered()
	for name, c := range map[string]struct {
		values []string
		status int
		shown  bool
	}{
		"asked for":     {[]string{"true"}, 200, true},
		"not asked for": {nil, 200, false},
		"another value": {[]string{"1"}, 400, false},
		"two values":    {[]string{"true", "false"}, 400, false},
	} {
		r := by(spending(3), "token of "+name)
		r.Header["Slipway-Cost"] = c.values
		a := s.do(t, r)
		if a.Status != c.status || (a.Extensions["cost"] != nil) != c.shown || c.status == 200 && a.Header.Get("RateLimit-Limit") != "100" {
			t.Errorf("%s: %d %v %s", name, a.Status, a.Header, a.Body)
		}
		if want := `Slipway-Cost must be true, found "`; c.status == 400 && (a.code() != string(fault.RequestInvalid) || !strings.HasPrefix(a.Errors[0].Message, want)) {
			t.Errorf("%s: %s", name, a.Body)
		}
	}
}

func TestACallerWhoSpentAllHasToWait(t *testing.T) {
	t.Parallel()
	s, clock := metered()
	a := s.do(t, by(spending(75), "token"))
	want := map[string]any{"used": 75.0, "limit": 100.0, "left": 25.0, "capacity": 100.0, "perSecond": 10.0}
	if diff := cmp.Diff(want, a.Extensions["cost"]); a.Status != 200 || diff != "" {
		t.Errorf("%d %s", a.Status, diff)
	}
	for _, accept := range []string{"application/json", "application/graphql-response+json"} {
		r := by(spending(60), "token")
		r.Header.Set("Accept", accept)
		a = s.do(t, r)
		if a.Status != 429 || a.code() != string(fault.RequestRateLimited) || a.Header.Get("Retry-After") != "4" || a.Data != nil {
			t.Errorf("%d %v %s", a.Status, a.Header, a.Body)
		}
	}
	if got := a.Header.Get("RateLimit-Limit") + " " + a.Header.Get("RateLimit-Remaining") + " " + a.Header.Get("RateLimit-Reset"); got != "100 25 8" {
		t.Errorf("RateLimit headers: %s", got)
	}
	if a.Errors[0].Message != "The request costs 60 and 25 is left of 100 (--cost-capacity); 10 comes back a second (--cost-per-second). Try again in 4 s." {
		t.Error(a.Body)
	}
	want = map[string]any{"limit": "costCapacity", "value": 100.0, "cost": 60.0, "left": 25.0, "retryAfterSeconds": 4.0}
	if diff := cmp.Diff(want, a.Errors[0].Extensions["metadata"]); diff != "" {
		t.Error(diff)
	}
	clock.Advance(3499 * time.Millisecond)
	if a := s.do(t, by(spending(60), "token")); a.Status != 429 || a.Header.Get("Retry-After") != "1" {
		t.Errorf("too early: %d %v", a.Status, a.Header)
	}
	clock.Advance(time.Millisecond)
	if a := s.do(t, by(spending(60), "token")); a.Status != 200 || a.Extensions["cost"].(map[string]any)["left"] != 0.0 {
		t.Errorf("in time: %d %s", a.Status, a.Body)
	}
}

func TestABucketFillsNoFurtherThanItsCapacity(t *testing.T) {
	t.Parallel()
	s, clock := metered()
	s.do(t, by(spending(50), "token"))
	for _, wait := range []time.Duration{time.Second, time.Hour, -time.Minute} {
		clock.Advance(wait)
		a := s.do(t, by(spending(3), "token"))
		left := a.Extensions["cost"].(map[string]any)["left"].(float64)
		if want := map[time.Duration]float64{time.Second: 57, time.Hour: 97, -time.Minute: 94}[wait]; left != want {
			t.Errorf("after %s %v is left, want %v", wait, left, want)
		}
	}
}

func TestNoOperationMayCostMoreThanABucketHolds(t *testing.T) {
	t.Parallel()
	s, _ := metered()
	if a := s.do(t, by(spending(101), "token")); a.code() != string(fault.DocumentLimitExceeded) {
		t.Error(a.Body)
	}
}

func TestEachTokenAndEachAddressHasItsOwnBucket(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first, second *http.Request
		want          int
	}{
		"one token at two addresses": {by(from(spending(90), "192.0.2.1:1"), "a"), by(from(spending(90), "192.0.2.2:1"), "a"), 429},
		"two tokens at one address":  {by(spending(90), "a"), by(spending(90), "b"), 200},
		"a token and nobody":         {by(spending(90), "a"), from(spending(9), "192.0.2.1:1"), 200},
		"one address, two ports":     {from(spending(9), "192.0.2.1:1"), from(spending(9), "192.0.2.1:2"), 429},
		"two addresses":              {from(spending(9), "192.0.2.1:1"), from(spending(9), "192.0.2.2:1"), 200},
		"one network of IPv6":        {from(spending(9), "[2001:db8::1]:1"), from(spending(9), "[2001:db8::2]:1"), 429},
		"two networks of IPv6":       {from(spending(9), "[2001:db8::1]:1"), from(spending(9), "[2001:db8:0:1::1]:1"), 200},
	} {
		s, _ := metered()
		if a := s.do(t, c.first); a.Status != 200 {
			t.Errorf("%s: %s", name, a.Body)
		}
		if a := s.do(t, c.second); a.Status != c.want {
			t.Errorf("%s: %d, want %d", name, a.Status, c.want)
		}
	}
}

func TestACallerIsRememberedAmongMany(t *testing.T) {
	t.Parallel()
	s, clock := metered()
	s.do(t, by(spending(95), "token"))
	clock.Advance(100 * time.Millisecond)
	for i := range 4900 {
		s.do(t, by(spending(3), fmt.Sprint("other", i)))
	}
	if a := s.do(t, by(spending(95), "token")); a.Status != 429 {
		t.Errorf("%d", a.Status)
	}
}

func TestABucketIsNotForgottenBeforeItIsFull(t *testing.T) {
	t.Parallel()
	s, clock := metered()
	s.do(t, by(spending(10), "token"))
	clock.Advance(9 * time.Second)
	s.do(t, by(spending(95), "token"))
	for range 2 {
		clock.Advance(2600 * time.Millisecond)
		s.do(t, by(spending(3), "other"))
	}
	if a := s.do(t, by(spending(90), "token")); a.Status != 429 || a.Errors[0].Extensions["metadata"].(map[string]any)["left"] != 57.0 {
		t.Error(a.Body)
	}
}

func TestWithoutABucketNobodyWaits(t *testing.T) {
	t.Parallel()
	s := treeServer(gqlhttp.Config{Costs: quota.NewCosts(quota.Bucket{Capacity: 10}, time.Now)})
	for range 3 {
		if a := s.do(t, by(spending(4000), "token")); a.Status != 200 {
			t.Error(a.Body)
		}
	}
}
