package gqlhttp_test

import (
	"strings"
	"testing"
	"time"

	"slipway/internal/base/fault"
	"slipway/internal/edge/gqlhttp/stream"
)

func TestAPeerThatVanishesEndsItsSubscriptions(t *testing.T) {
	t.Parallel()
	l := goLive(t, stream.Config{})
	p := l.welcome(t)
	p.say(subscribe("1", items))
	p.say(subscribe("2", items))
	p.say(`{"type":"ping"}`)
	p.hear(`{"type":"pong"}`)
	_ = p.conn.Close()
	l.over(t, "items")
	l.over(t, "items")
}

func TestASlowReaderOfASocketIsCutOff(t *testing.T) {
	t.Parallel()
	l := goLive(t, stream.Config{WriteTimeout: 20 * time.Millisecond, Heartbeat: time.Hour})
	p := l.welcome(t)
	p.say(subscribe("1", `subscription { feed(of: "large") { text } }`))
	l.over(t, "large") // p reads nothing
}

func TestASocketEndsWithItsToken(t *testing.T) {
	t.Parallel()
	shut := make(chan struct{})
	l := goLive(t, stream.Config{Authenticate: doorkeeper(shut), Recheck: time.Millisecond})
	p := l.welcome(t)
	p.say(subscribe("1", items))
	l.items <- 7
	p.hear(item("1", 7))
	close(shut)
	p.ends(4403, "Forbidden")
	l.over(t, "items")
}

func TestAFieldThatPanicsFailsItsEventOnly(t *testing.T) {
	t.Parallel()
	l := goLive(t, stream.Config{})
	p := l.welcome(t)
	p.say(subscribe("1", `subscription { feed(of: "three") { n panics } }`))
	for range 3 {
		if got := p.next(); !strings.Contains(got, string(fault.ServerInternal)) || !strings.Contains(got, `"panics":null`) || strings.Contains(got, "secret") {
			t.Error(got)
		}
	}
	p.hear(complete("1"))
}
