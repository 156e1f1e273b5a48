package attacktest_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"

	"slipway/internal/test/testkit"
)

// welcomed is the message of who has the admin's token.
const welcomed = "an init"

// messages is an attack by what a socket says, which is judged by its end.
func messages(name, want string, text ...string) attack {
	return attack{name: name, want: want, run: func(ctx context.Context, c *caller) (string, error) {
		p, err := c.socket(ctx)
		if err != nil {
			return "", err
		}
		init := frame(testkit.OpText|testkit.Final, `{"type":"connection_init","payload":{"Authorization":"Bearer `+c.token+`"}}`)
		go p.raw(strings.ReplaceAll(strings.Join(text, ""), welcomed, init))
		return p.end(), nil
	}}
}

// watching is a subscription to a deployment that nobody carries out.
func (s *server) watching() string {
	return fmt.Sprintf("subscription { deploymentChanged(id: %q) { deployment { id status } } }", s.deployment)
}

func sockets() []attack {
	say := func(text string) string { return frame(testkit.OpText|testkit.Final, text) }
	silly := subscribe("a", "subscription { deploymentChanged(id: 1) { deployment { id } } }")
	long := `{"type":"ping","payload":{"a":"` + strings.Repeat("x", 64<<10) + `"}}`
	return concat([]attack{
		messages("a socket that says nothing", "close 4408"),
		messages("a subscription before the init", "close 4401", say(silly)),
		messages("two inits", "close 4429", welcomed, welcomed),
		messages("a bad token", "close 4403", say(`{"type":"connection_init","payload":{"Authorization":"Bearer x"}}`)),
		messages("frames of garbage", "close 1002", strings.Repeat("\xf7\xff\x00garbage", 1000)),
		messages("a frame without a mask", "close 1002", "\x81\x02{}"),
		messages("a ping of 200 bytes", "close 1002", frame(testkit.OpPing|testkit.Final, strings.Repeat("x", 200))),
		messages("a fragmented ping", "close 1002", frame(testkit.OpPing, "x")),
		messages("a binary message", "close 4400", frame(testkit.OpBinary|testkit.Final, "{}")),
		messages("a message that is no UTF-8", "close 1007", say("\"\xff\"")),
		messages("a message of 64 KiB and more", "close 1009", say(long)),
		messages("a frame that promises 2^62 bytes", "close 1009", "\x81\xff\x40\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"+strings.Repeat("x", 70_000)),
		messages("a frame that promises 2^63 bytes", "close 1002", "\x81\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"),
		messages("a message in fragments without end", "close 1009", frame(testkit.OpText, "{"), strings.Repeat(frame(testkit.OpContinuation, " "), 70_000)),
		messages("50,000 empty fragments", "close 4400", frame(testkit.OpText, "{"), strings.Repeat(frame(testkit.OpContinuation, ""), 50_000), frame(testkit.OpContinuation|testkit.Final, "")),
		messages("64 KiB of open brackets", "close 4400", say(strings.Repeat("[", 64<<10))),
		messages("a message with a key 10,000 times", "close 4400", say("{"+strings.Repeat(`"a":1,`, 10_000)+`"a":1}`)),
	}, floods())
}

func floods() []attack {
	return []attack{
		{name: "one subscription more than 20", want: "error Request:RATE_LIMITED operations", requests: 21, run: onSocket(func(c *caller, p *peer) string {
			for i := range 21 {
				p.say(subscribe(fmt.Sprint(i), c.watching()))
			}
			return p.until("error")
		})},
		{name: "an id that is taken", want: "close 4409", run: onSocket(func(c *caller, p *peer) string {
			p.say(subscribe("a", c.watching()))
			p.say(subscribe("a", c.watching()))
			return p.end()
		})},
		{name: "subscriptions that end at once", want: "pong", requests: 5000, run: onSocket(func(c *caller, p *peer) string {
			go func() {
				for range 5000 {
					p.say(subscribe("a", c.watching()))
					p.say(`{"id":"a","type":"complete"}`)
				}
				p.say(`{"type":"ping"}`)
			}()
			return p.until("pong")
		})},
		{name: "ping messages", want: "pong", requests: 10_000, run: onSocket(func(_ *caller, p *peer) string {
			go p.raw(strings.Repeat(frame(testkit.OpText|testkit.Final, `{"type":"ping"}`), 10_000))
			for range 9999 {
				p.hear()
			}
			return p.hear()
		})},
		{name: "ping frames", want: "frame 10", requests: 10_000, run: onSocket(func(_ *caller, p *peer) string {
			go p.raw(strings.Repeat(frame(testkit.OpPing|testkit.Final, "x"), 10_000))
			for range 9999 {
				p.hear()
			}
			return p.hear()
		})},
		{name: "pings of 60 KB", want: "pong", requests: 100, run: onSocket(func(_ *caller, p *peer) string {
			go p.raw(strings.Repeat(frame(testkit.OpText|testkit.Final, `{"type":"ping","payload":{"a":"`+strings.Repeat("x", 60_000)+`"}}`), 100))
			for range 99 {
				p.hear()
			}
			return p.hear()
		})},
		{name: "sockets that are left open", want: "connection_ack", requests: 90, run: abandon},
		{name: "connections that say nothing", want: "200", requests: 200, run: loiter},
		{name: "a reader that takes nothing of 800 deployments", want: "cut", cpu: recordsCPU, why: ofRecords,
			run: onSocket(func(_ *caller, p *peer) string {
				_ = p.conn.(*net.TCPConn).SetReadBuffer(4 << 10)
				p.say(subscribe("a", everything))
				return cut(p.conn, frame(testkit.OpPing|testkit.Final, ""))
			})},
	}
}

// onSocket is what an attack does with a socket of the admin's.
func onSocket(do func(c *caller, p *peer) string) func(context.Context, *caller) (string, error) {
	return func(ctx context.Context, c *caller) (string, error) {
		p, err := c.welcome(ctx)
		if err != nil {
			return "", err
		}
		defer func() { _ = p.conn.Close() }()
		return do(c, p), nil
	}
}

// until is the first verdict of some kinds, or the end.
func (p *peer) until(kinds ...string) string {
	for {
		got := p.hear()
		if got == "cut" || strings.HasPrefix(got, "close ") ||
			slices.ContainsFunc(kinds, func(kind string) bool { return strings.HasPrefix(got, kind) }) {
			return got
		}
	}
}

// abandon opens 90 sockets with a subscription each and drops their connections without a goodbye.
func abandon(ctx context.Context, c *caller) (string, error) {
	var mu sync.Mutex
	var open []*peer
	got, err := flood(90, 10, func(int) (string, error) {
		p, err := c.welcome(ctx)
		if err != nil {
			return "", err
		}
		p.say(subscribe("a", c.watching()))
		mu.Lock()
		defer mu.Unlock()
		open = append(open, p)
		return "connection_ack", nil
	})
	for _, p := range open {
		_ = p.conn.(*net.TCPConn).SetLinger(0)
		_ = p.conn.Close()
	}
	return got, err
}

// loiter opens 200 connections from an address of its own, asks a good question beside them, and leaves.
func loiter(ctx context.Context, c *caller) (string, error) {
	from := c.from(net.IPv4(127, 0, 4, byte(1+c.round)))
	for range 200 {
		conn, err := from.dial(ctx)
		if err != nil {
			return "", err
		}
		defer func() { _ = conn.Close() }()
	}
	return c.post(ctx, "{ __typename }", nil)
}
