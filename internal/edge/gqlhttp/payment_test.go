package gqlhttp_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"slipway/internal/base/fault"
	"slipway/internal/base/turns"
	"slipway/internal/edge/gqlhttp/stream"
	"slipway/internal/edge/quota"
	"slipway/internal/test/testkit"
)

// priced returns a subscription to a source whose start costs the price, as does each item.
func priced(of string) string {
	return fmt.Sprintf(`subscription { feed(of: %q) { padded(by: %q) n } }`, of, strings.Repeat("x", 2<<10))
}

const price = 14

// next is an item of it.
func itemOf(n int) string { return fmt.Sprintf(`{"data":{"feed":{"padded":null,"n":%d}}}`, n) }

// charging is a server whose callers have a bucket that nothing comes back to, because its clock stands still: how long it
// would take to pay for something tells perSecond all the same.
func charging(t *testing.T, capacity, perSecond int, c stream.Config, extensions ...graphql.HandlerExtension) (l *live, left func() int) {
	t.Helper()
	const strangers = 10 // have a tenth
	now := time.Now()
	costs := quota.NewCosts(quota.Bucket{Capacity: strangers * capacity, PerSecond: strangers * perSecond}, func() time.Time { return now })
	l = prepareCharging(t, c, costs, extensions...)
	l.Start()
	caller := turns.Stranger("127.0.0.1/32")
	return l, func() int { return costs.Of(caller).Settle(caller.Key, 0).Left }
}

func TestEachItemIsPaidForOutOfTheBucketOfItsCaller(t *testing.T) {
	t.Parallel()
	const streams, capacity = 20, 100_000
	l, left := charging(t, capacity, 1, stream.Config{})
	want := []string{itemOf(1), itemOf(2), itemOf(3)}
	p := l.welcome(t)
	for range streams {
		l.listen(t, priced("three")).hear("next "+want[0], "next "+want[1], "next "+want[2], completed)
		p.say(subscribe("1", priced("three")))
		for _, item := range want {
			p.hear(`{"type":"next","id":"1","payload":` + item + `}`)
		}
		p.hear(complete("1"))
	}
	testkit.Eventually(t, "all is settled", func() bool { return left() == capacity-2*streams*(1+len(want))*price })
	if other := l.listen(t, priced("three"), "Test-From", "192.0.2.1:1"); other.next() == "" || left() != capacity-2*streams*(1+len(want))*price {
		t.Errorf("%d are left once another has subscribed", left())
	}
}

// One who cannot pay for an item within five seconds is told at once, and the subscription ends.
func TestWhoCannotPayForAnItemIsToldAndTheStreamEnds(t *testing.T) {
	t.Parallel()
	for name, follow := range map[string]func(t *testing.T, l *live) (first, second, last string){
		"an event stream": func(t *testing.T, l *live) (first, second, last string) {
			out := l.listen(t, priced("endless"))
			first, second, last = out.next(), out.next(), out.next()
			out.hear(completed)
			out.ends()
			return first, second, last
		},
		"a socket": func(t *testing.T, l *live) (first, second, last string) {
			p := l.welcome(t)
			p.say(subscribe("1", priced("endless")))
			first, second, last = p.next(), p.next(), p.next()
			if !strings.HasPrefix(last, `{"type":"error","id":"1",`) {
				t.Errorf("the last message is %s", last)
			}
			p.say(`{"type":"ping"}`)
			p.hear(`{"type":"pong"}`) // nothing more of it
			return first, second, last
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, left := charging(t, 3*price, 1, stream.Config{})
			first, second, last := follow(t, l)
			spaces := strings.NewReplacer(" }", "}")
			if !strings.Contains(spaces.Replace(first), itemOf(1)) || !strings.Contains(spaces.Replace(second), itemOf(2)) {
				t.Errorf("%s, then %s", first, second)
			}
			for _, part := range []string{
				`"code":"` + string(fault.RequestRateLimited) + `"`, `"retryAfterSeconds":14`, `"limit":"costCapacity"`, `"cost":14`, `"left":0`,
				`"message":"An item of the subscription costs 14 and 0 is left of 42 (--cost-capacity); 1 comes back a second (--cost-per-second). Try again in 14 s."`,
			} {
				if !strings.Contains(last, part) {
					t.Errorf("the last is %s, want %s", last, part)
				}
			}
			if strings.Contains(last, `"data"`) || strings.Contains(last, `"path"`) || left() != 0 {
				t.Errorf("the last is %s; %d are left", last, left())
			}
			l.over(t, "endless")
		})
	}
}

func TestAnItemWaitsForWhatComesBack(t *testing.T) {
	t.Parallel()
	l, _ := charging(t, price, 100*price, stream.Config{})
	l.listen(t, priced("three")).hear("next "+itemOf(1), "next "+itemOf(2), "next "+itemOf(3), completed)
}

// Whoever pays has no turn yet: one who cannot is told so while another has the only one.
func TestAnItemIsPaidForBeforeItHasATurn(t *testing.T) {
	t.Parallel()
	h := newHold()
	shared := turns.New(turns.Limit{Name: "operations", Flag: "--max-operations", Of: "operations", Max: 1})
	l, _ := charging(t, price, 1, stream.Config{Turns: shared}, h)
	out := l.listen(t, priced("items"))
	other := l.ask(t, "application/json", "Test-From", "192.0.2.1:1")
	<-h.running
	l.items <- 1
	if got := out.next(); !strings.Contains(got, string(fault.RequestRateLimited)) {
		t.Errorf("it hears %s", got)
	}
	out.hear(completed)
	h.release <- struct{}{}
	resp := <-other
	if text, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK {
		t.Errorf("%d %s", resp.StatusCode, text)
	}
}

func TestWhoLeavesWhileAnItemWaitsHasPaidNothing(t *testing.T) {
	t.Parallel()
	l, left := charging(t, price, price/4, stream.Config{})
	out := l.listen(t, priced("items"))
	l.items <- 1
	testkit.Eventually(t, "it waits", func() bool { return left() < 0 })
	_ = out.conn.Close()
	testkit.Eventually(t, "what it was to pay is there", func() bool { return left() == 0 })
	l.over(t, "items")
}

func TestPathsWithinAnItemBeginWithTheKeyOfTheField(t *testing.T) {
	t.Parallel()
	l := goLive(t, stream.Config{})
	out := l.listen(t, `subscription { x: feed(of: "three") { y: panics } }`)
	if got := out.next(); !strings.Contains(got, `"path":["x","y"]`) {
		t.Errorf("%s", got)
	}
}
