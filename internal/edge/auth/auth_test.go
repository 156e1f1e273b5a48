package auth_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/edge/auth"
)

func TestHeaderDecidesWhoAsks(t *testing.T) {
	t.Parallel()
	w := setup(t)
	good := w.issue(t, time.Time{}).Reveal()
	strange := w.draw(t).Reveal()
	expired := w.issue(t, w.now()).Reveal()
	for name, c := range map[string]struct {
		values  []string
		refused string
	}{
		"none":                {nil, ""},
		"valid":               {[]string{"Bearer " + good}, ""},
		"scheme in any case":  {[]string{"bEARER  " + good + " "}, ""},
		"two":                 {[]string{"Bearer " + good, "Bearer " + good}, "There are 2 Authorization headers"},
		"empty":               {[]string{""}, "not of the Bearer scheme"},
		"another scheme":      {[]string{"Basic " + good}, "not of the Bearer scheme"},
		"no scheme":           {[]string{good}, "not of the Bearer scheme"},
		"scheme alone":        {[]string{"Bearer"}, "malformed"},
		"another service's":   {[]string{"Bearer ghp_0123456789"}, "malformed"},
		"wrong checksum":      {[]string{"Bearer " + good[:len(good)-6] + strange[len(strange)-6:]}, "malformed"},
		"two in one":          {[]string{"Bearer " + good + " " + good}, "malformed"},
		"unknown":             {[]string{"Bearer " + strange}, "unknown, expired or revoked"},
		"expired just now":    {[]string{"Bearer " + expired}, "unknown, expired or revoked"},
		"unlike its checksum": {[]string{"Bearer " + strings.Replace(good, "developer", "admin", 1)}, "malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			who, err := w.Authenticate(from(t.Context(), here, c.values...))
			if c.refused == "" {
				if err != nil || who.IsAnonymous() != (c.values == nil) {
					t.Fatalf("actor %+v, error %v", who, err)
				}
				return
			}
			if !fault.Is(err, fault.RequestUnauthenticated) || !strings.Contains(err.Error(), c.refused) {
				t.Fatalf("error %v, want UNAUTHENTICATED with %q", err, c.refused)
			}
			for _, value := range c.values {
				if value != "" && strings.Contains(err.Error(), strings.TrimPrefix(value, "Bearer ")) && value != "Bearer" {
					t.Errorf("error %q repeats what was sent", err)
				}
			}
		})
	}
}

func TestMalformedTokenCostsNoQuestion(t *testing.T) {
	t.Parallel()
	w := setup(t)
	_, err := w.Authenticate(from(t.Context(), here, "Bearer slp_admin_x"))
	if err == nil || w.questions() != 0 {
		t.Errorf("error %v after %d questions", err, w.questions())
	}
}

func TestRevokedTokenWorksForLessThanFiveSeconds(t *testing.T) {
	t.Parallel()
	w := setup(t)
	secret := w.issue(t, time.Time{})
	mustKnow(t, w, secret)
	w.revoke(secret)
	w.pass(5*time.Second - 1)
	mustKnow(t, w, secret)
	if w.questions() != 1 {
		t.Errorf("asked %d times within five seconds", w.questions())
	}
	w.pass(1)
	mustRefuse(t, w, secret)
}

func TestForgottenTokenIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	w := setup(t)
	secret := w.issue(t, time.Time{})
	mustKnow(t, w, secret)
	w.Forget(secret.Hash()) // the Verifier would still know it
	for range 2 {
		mustRefuse(t, w, secret)
		w.pass(5*time.Second - 1)
	}
}

func TestTokenIsForgottenWhileItIsAskedFor(t *testing.T) {
	t.Parallel()
	w := setup(t)
	secret := w.issue(t, time.Time{})
	w.during = w.Forget
	mustKnow(t, w, secret) // it was good when it was asked for
	mustRefuse(t, w, secret)
}

func TestTokenEndsOnTimeThoughRemembered(t *testing.T) {
	t.Parallel()
	w := setup(t)
	secret := w.issue(t, w.now().Add(2*time.Second))
	mustKnow(t, w, secret)
	w.pass(2*time.Second - 1)
	mustKnow(t, w, secret)
	w.pass(1)
	mustRefuse(t, w, secret)
}

func TestUnknownTokenIsAskedForOnceInTenSeconds(t *testing.T) {
	t.Parallel()
	w := setup(t)
	secret := w.issue(t, time.Time{})
	verified := w.tokens[secret.Hash()]
	w.revoke(secret)
	mustRefuse(t, w, secret)
	w.tokens[secret.Hash()] = verified // which no server does: that it is refused shows that it is remembered
	w.pass(10*time.Second - 1)
	mustRefuse(t, w, secret)
	if w.questions() != 1 {
		t.Errorf("asked %d times within ten seconds", w.questions())
	}
	w.pass(1)
	mustKnow(t, w, secret)
}

func TestNewTokenWorksAtOnceAmongUnknownOnes(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for range 100 {
		mustRefuse(t, w, w.draw(t))
		mustKnow(t, w, w.issue(t, time.Time{}))
	}
}

func TestActorOfOneRequestIsNotAnothers(t *testing.T) {
	t.Parallel()
	w := setup(t)
	secret := w.issue(t, time.Time{})
	mustKnow(t, w, secret).Role = actor.Superadmin
	if who := mustKnow(t, w, secret); who.Role != actor.Developer {
		t.Errorf("role %s", who.Role)
	}
}

func TestVerifierFailingIsNobodysBadToken(t *testing.T) {
	t.Parallel()
	w := setup(t)
	secret := w.issue(t, time.Time{})
	w.broken = errors.New("connection refused")
	_, err := w.Authenticate(bearing(t.Context(), secret))
	if !errors.Is(err, w.broken) || fault.Status(err) != http.StatusInternalServerError {
		t.Errorf("error %v, status %d", err, fault.Status(err))
	}
	w.broken = nil
	mustKnow(t, w, secret)
}

func TestMemoryOfTokensIsBounded(t *testing.T) {
	t.Parallel()
	w := setup(t)
	first := w.issue(t, time.Time{})
	mustKnow(t, w, first)
	var later []auth.Secret
	for range 10_000 {
		later = append(later, w.issue(t, time.Time{}))
		mustKnow(t, w, later[len(later)-1])
	}
	asked := w.questions()
	for _, secret := range later[5_000:] {
		mustKnow(t, w, secret)
	}
	if w.questions() != asked {
		t.Errorf("%d of the last 5,000 tokens are forgotten", w.questions()-asked)
	}
	mustKnow(t, w, first)
	if w.questions() != asked+1 {
		t.Error("the first of 10,001 tokens is still remembered")
	}
}

func TestMemoryOfUnknownTokensIsBoundedAndTakesNoneOfTheGoodOnes(t *testing.T) {
	t.Parallel()
	w := setup(t)
	good, first := w.issue(t, time.Time{}), w.draw(t)
	mustKnow(t, w, good)
	mustRefuse(t, w, first)
	for range 10_000 {
		mustRefuse(t, w, w.draw(t))
	}
	asked := w.questions()
	mustKnow(t, w, good)
	if w.questions() != asked {
		t.Error("10,001 unknown tokens made it forget a good one")
	}
	mustRefuse(t, w, first)
	if w.questions() != asked+1 {
		t.Error("the first of 10,001 unknown tokens is still remembered")
	}
}

// slow is a Verifier that answers when it is let, and only then.
type slow struct {
	asked  chan struct{}
	answer chan error
}

func (s slow) VerifyToken(ctx context.Context, _ string) (*auth.Verified, error) {
	s.asked <- struct{}{}
	select {
	case err := <-s.answer:
		return &auth.Verified{Actor: &actor.Actor{ID: "tok_1", Role: actor.Viewer}}, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestRequestsAtTheSameTimeAskOnceAndOneLeavingHarmsNone(t *testing.T) {
	t.Parallel()
	secret := setup(t).draw(t)
	synctest.Test(t, func(t *testing.T) {
		verifier := slow{asked: make(chan struct{}, 100), answer: make(chan error)}
		a := auth.New(verifier, time.Now, 0)
		leaving, leave := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() {
			_, err := a.Authenticate(bearing(leaving, secret))
			left <- err
		}()
		synctest.Wait()
		var waiting sync.WaitGroup
		for range 50 {
			waiting.Go(func() {
				if who, err := a.Authenticate(bearing(t.Context(), secret)); err != nil || who.ID != "tok_1" {
					t.Errorf("actor %+v, error %v", who, err)
				}
			})
		}
		synctest.Wait()
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("the one who left got %v", err)
		}
		verifier.answer <- nil
		waiting.Wait()
		if n := len(verifier.asked); n != 1 {
			t.Errorf("51 requests asked %d times", n)
		}
	})
}

func TestSilentVerifierIsGivenUpAfterFiveSeconds(t *testing.T) {
	t.Parallel()
	secret := setup(t).draw(t)
	synctest.Test(t, func(t *testing.T) {
		a := auth.New(slow{asked: make(chan struct{}, 1)}, time.Now, 0)
		start := time.Now()
		_, err := a.Authenticate(bearing(t.Context(), secret))
		if !errors.Is(err, context.DeadlineExceeded) || !fault.Is(err, fault.ServerUnavailable) || time.Since(start) != 5*time.Second {
			t.Errorf("error %v after %s", err, time.Since(start))
		}
	})
}

type panicking struct{}

func (panicking) VerifyToken(context.Context, string) (*auth.Verified, error) { panic("no driver") }

func TestPanicOfVerifierFailsTheRequestAlone(t *testing.T) {
	t.Parallel()
	a := auth.New(panicking{}, time.Now, 0)
	_, err := a.Authenticate(bearing(t.Context(), setup(t).draw(t)))
	if err == nil || !strings.Contains(err.Error(), "no driver") || fault.Is(err, fault.RequestUnauthenticated) {
		t.Errorf("error %v", err)
	}
}

func mustKnow(t *testing.T, w *world, secret auth.Secret) *actor.Actor {
	t.Helper()
	who, err := w.Authenticate(bearing(t.Context(), secret))
	if err != nil || who.ID != "tok_1" {
		t.Fatalf("actor %+v, error %v", who, err)
	}
	return who
}

func mustRefuse(t *testing.T, w *world, secret auth.Secret) {
	t.Helper()
	if who, err := w.Authenticate(bearing(t.Context(), secret)); !fault.Is(err, fault.RequestUnauthenticated) {
		t.Fatalf("actor %+v, error %v", who, err)
	}
}
