package auth_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"slipway/internal/edge/auth"
)

// elsewhere is another address than here.
const elsewhere = "198.51.100.7:4321"

// timed is a Verifier that takes a while for each of the tokens of a world.
type timed struct {
	*world
	takes time.Duration

	mu            sync.Mutex
	running, most int
}

func (v *timed) VerifyToken(ctx context.Context, hash string) (*auth.Verified, error) {
	v.count(1)
	defer v.count(-1)
	select {
	case <-time.After(v.takes):
		return v.world.VerifyToken(ctx, hash)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (v *timed) count(n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.running += n
	v.most = max(v.most, v.running)
}

// inBubble runs a test in a time of its own, in which each look-up takes a while.
func inBubble(t *testing.T, takes time.Duration, test func(t *testing.T, w *world, v *timed)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		v := &timed{world: w, takes: takes}
		w.Authenticator = auth.New(v, time.Now, 0)
		test(t, w, v)
		synctest.Wait()
		if n := w.Queues(); n != 0 {
			t.Errorf("%d queues are left", n)
		}
	})
}

// fail uses up what an address may fail.
func fail(t *testing.T, w *world, address string) {
	t.Helper()
	for range 20 {
		wantStatus(t, w, address, "nonsense", 401)
	}
}

// sent is the answer to a request that is under way.
type sent struct {
	answer *httptest.ResponseRecorder
	took   time.Duration
}

// sendSoon sends a token without waiting for the answer.
func sendSoon(w *world, address string, secret auth.Secret) <-chan sent {
	answered := make(chan sent, 1)
	go func() {
		begun := time.Now()
		answer := w.send(address, "Bearer "+secret.Reveal())
		answered <- sent{answer, time.Since(begun)}
	}()
	return answered
}

func TestFiveThousandMadeUpTokensASecondDelayNoOtherAddress(t *testing.T) {
	t.Parallel()
	inBubble(t, 300*time.Microsecond, func(t *testing.T, w *world, v *timed) {
		var forged, fresh []<-chan sent
		const seconds, a = 1, 5000 // made-up tokens a second
		for i := range seconds * a {
			forged = append(forged, sendSoon(w, here, w.draw(t)))
			if i%50 == 0 {
				fresh = append(fresh, sendSoon(w, elsewhere, w.issue(t, time.Time{})))
			}
			<-time.After(time.Second / a)
		}
		for _, answered := range fresh {
			if s := <-answered; s.answer.Code != 200 || s.took != v.takes {
				t.Errorf("a good token: %d %s after %s", s.answer.Code, s.answer.Body, s.took)
			}
		}
		statuses := map[int]int{}
		for _, answered := range forged {
			statuses[(<-answered).answer.Code]++
		}
		// A second has room for 3,333 look-ups one after the other, and 1,000 more wait at its end.
		if statuses[401] < 4000 || statuses[401]+statuses[429] != seconds*a {
			t.Errorf("the made-up tokens: %v", statuses)
		}
		if v.most > 3 {
			t.Errorf("%d look-ups at once", v.most)
		}
	})
}

func TestAnAddressThatFailsWithAllItsConnectionsStillGetsItsGoodTokensIn(t *testing.T) {
	t.Parallel()
	inBubble(t, 300*time.Microsecond, func(t *testing.T, w *world, _ *timed) {
		over, stop := context.WithCancel(t.Context())
		var attackers sync.WaitGroup
		for range 200 { // which is how many connections without a good token it has
			attackers.Go(func() {
				for over.Err() == nil {
					if answer := w.send(here, "Bearer "+w.draw(t).Reveal()); answer.Code != 401 {
						t.Errorf("a made-up token: %d", answer.Code)
					}
				}
			})
		}
		for range 20 {
			if s := <-sendSoon(w, here, w.issue(t, time.Time{})); s.answer.Code != 200 {
				t.Errorf("a good token: %d %s after %s", s.answer.Code, s.answer.Body, s.took)
			}
		}
		stop()
		attackers.Wait()
	})
}

func TestLookUpsAtOnceAreAsManyAsFailuresAreLeftAndAlwaysOne(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ failures, want int }{{0, 20}, {1, 19}, {15, 5}, {19, 1}, {20, 1}, {30, 1}} {
		t.Run(fmt.Sprint(c.failures), func(t *testing.T) {
			t.Parallel()
			inBubble(t, time.Millisecond, func(t *testing.T, w *world, v *timed) {
				for range c.failures {
					wantStatus(t, w, here, "nonsense", 401)
				}
				var answers []<-chan sent
				for range 100 {
					answers = append(answers, sendSoon(w, here, w.issue(t, time.Time{})))
				}
				for _, answered := range answers {
					if s := <-answered; s.answer.Code != 200 {
						t.Errorf("%d %s", s.answer.Code, s.answer.Body)
					}
				}
				if v.most != c.want {
					t.Errorf("%d look-ups at once, want %d", v.most, c.want)
				}
			})
		})
	}
}

func TestFailuresAtTheSameTimeNarrowTheLane(t *testing.T) {
	t.Parallel()
	inBubble(t, time.Millisecond, func(t *testing.T, w *world, v *timed) {
		begun := time.Now()
		var answers []<-chan sent
		for range 40 {
			answers = append(answers, sendSoon(w, here, w.draw(t)))
		}
		for _, answered := range answers {
			if s := <-answered; s.answer.Code != 401 {
				t.Errorf("%d %s", s.answer.Code, s.answer.Body)
			}
		}
		// 20 at once, and then 20 one after the other.
		if took := time.Since(begun); took != 21*v.takes {
			t.Errorf("40 failures took %s", took)
		}
		if v.most != 20 {
			t.Errorf("%d look-ups at once", v.most)
		}
		if answer := w.send(here, "Bearer nonsense"); answer.Header().Get("RateLimit-Remaining") != "0" {
			t.Errorf("%v", answer.Header())
		}
	})
}

func TestWaitInTheLaneIsASecondAtMost(t *testing.T) {
	t.Parallel()
	inBubble(t, time.Second, func(t *testing.T, w *world, _ *timed) {
		fail(t, w, here)
		first := sendSoon(w, here, w.issue(t, time.Time{}))
		<-time.After(1)
		second := sendSoon(w, here, w.issue(t, time.Time{})) // waits for a second less a nanosecond
		synctest.Wait()
		third := sendSoon(w, here, w.issue(t, time.Time{}))
		for _, answered := range []<-chan sent{first, second} {
			if s := <-answered; s.answer.Code != 200 {
				t.Errorf("%d %s", s.answer.Code, s.answer.Body)
			}
		}
		s := <-third
		if s.answer.Code != 429 || s.took != time.Second {
			t.Errorf("%d after %s", s.answer.Code, s.took)
		}
		wantHeaders(t, s.answer.Header(), map[string]string{
			"Retry-After": "1", "RateLimit-Limit": "20", "RateLimit-Remaining": "0", "RateLimit-Reset": "59", "WWW-Authenticate": "",
		})
		for _, part := range []string{"192.0.2.1 ", "20 failed", "--max-failed-authentications", "Try again in 1 s"} {
			if !strings.Contains(s.answer.Body.String(), part) {
				t.Errorf("no %q in %q", part, s.answer.Body)
			}
		}
	})
}

func TestATurnThatComesAsItsWaitEndsIsNotLost(t *testing.T) {
	t.Parallel()
	inBubble(t, time.Second, func(t *testing.T, w *world, _ *timed) {
		for range 300 {
			fail(t, w, here)
			first, second := sendSoon(w, here, w.issue(t, time.Time{})), sendSoon(w, here, w.issue(t, time.Time{}))
			<-first
			<-second // answered 200 or 429: both are right at this moment
			if s := <-sendSoon(w, here, w.issue(t, time.Time{})); s.answer.Code != 200 || s.took != time.Second {
				t.Fatalf("the next one: %d after %s", s.answer.Code, s.took)
			}
		}
	})
}

func TestAFullLaneRefusesItsOwnAddressOnly(t *testing.T) {
	t.Parallel()
	inBubble(t, 500*time.Microsecond, func(t *testing.T, w *world, _ *timed) {
		fail(t, w, here)
		steady := w.issue(t, time.Time{})
		wantStatus(t, w, here, steady.Reveal(), 200)
		<-time.After(5 * time.Second) // the last answer for it is not believed any more
		var answers []<-chan sent
		for range 1001 { // one runs and 1,000 wait
			answers = append(answers, sendSoon(w, here, w.issue(t, time.Time{})))
		}
		synctest.Wait()
		wantStatus(t, w, here, w.issue(t, time.Time{}).Reveal(), 429)
		wantStatus(t, w, elsewhere, w.issue(t, time.Time{}).Reveal(), 200)
		wantStatus(t, w, here, steady.Reveal(), 200)
		if answer := w.send(here); answer.Code != 200 {
			t.Errorf("anonymous: %d", answer.Code)
		}
		for _, answered := range answers {
			if s := <-answered; s.answer.Code != 200 {
				t.Errorf("one that waited: %d after %s", s.answer.Code, s.took)
			}
		}
	})
}

func TestOneWhoLeavesKeepsTheLaneUntilItsLookUpHasEnded(t *testing.T) {
	t.Parallel()
	inBubble(t, time.Second/2, func(t *testing.T, w *world, v *timed) {
		fail(t, w, here)
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan error, 2)
		for range 2 { // one that is looked up, one that waits
			secret := w.draw(t)
			go func() {
				_, err := w.Authenticate(bearing(ctx, secret))
				left <- err
			}()
		}
		synctest.Wait()
		leave()
		for range 2 {
			if err := <-left; !errors.Is(err, context.Canceled) {
				t.Errorf("one who left got %v", err)
			}
		}
		s := <-sendSoon(w, here, w.issue(t, time.Time{}))
		if s.answer.Code != 200 || s.took != time.Second || v.most != 1 {
			t.Errorf("%d after %s, %d look-ups at once", s.answer.Code, s.took, v.most)
		}
	})
}

func TestOneTokenManyTimesIsLookedUpOnceInALane(t *testing.T) {
	t.Parallel()
	inBubble(t, time.Millisecond, func(t *testing.T, w *world, v *timed) {
		fail(t, w, here)
		good, bad := w.issue(t, time.Time{}), w.draw(t)
		var goods, bads []<-chan sent
		for range 300 {
			goods, bads = append(goods, sendSoon(w, here, good)), append(bads, sendSoon(w, here, bad))
		}
		for i := range goods {
			g, b := <-goods[i], <-bads[i]
			if g.answer.Code != 200 || b.answer.Code != 401 {
				t.Errorf("%d and %d", g.answer.Code, b.answer.Code)
			}
		}
		if w.questions() != 2 {
			t.Errorf("%d questions for two tokens", w.questions())
		}
	})
}

func TestTheLimitOfFailuresIsASetting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		v := &timed{world: w, takes: time.Millisecond}
		w.Authenticator = auth.New(v, time.Now, 3)
		var answers []<-chan sent
		for range 10 {
			answers = append(answers, sendSoon(w, here, w.issue(t, time.Time{})))
		}
		for _, answered := range answers {
			<-answered
		}
		answer := w.send(here, "Bearer nonsense")
		wantHeaders(t, answer.Header(), map[string]string{"RateLimit-Limit": "3", "RateLimit-Remaining": "2"})
		if v.most != 3 {
			t.Errorf("%d look-ups at once", v.most)
		}
	})
}
