package attacktest_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"slipway/internal/base/actor"
)

// crowds are attacks by many connections at once, some of which nobody knows.
func crowds() []attack {
	return []attack{
		{name: "sockets of nobody", want: "close 4403; another connection_ack", requests: 200, run: crowd(200, nameless)},
		{name: "sockets that say nothing", want: "silent; another connection_ack", requests: 180, run: crowd(180, silent)},
		{name: "sockets of one token", want: "100 x connection_ack, 100 x refused; another connection_ack", requests: 200, run: crowd(200, known)},
		{name: "connections of nobody", want: "open; another connection_ack", requests: 300, run: crowd(300, quiet)},
		{name: "connections of nobody, from the address of a good token", want: "open; good 200", requests: 300, run: mute},
		{
			name: "readers that take nothing of 20 releases", want: "cut", requests: 100,
			cpu: 100 * 40 * time.Millisecond, memory: 64 * 10 << 20, why: ofRecords + ", 64 answers of 4 MB at once", run: gorge,
		},
		{
			name: "operations of one socket that list releases", want: "(error|next) (" + costly + "|" + lengthy + ")", requests: 20, cpu: 20 * mostCPU, memory: 256 << 20, why: ofRecords,
			run: onSocket(func(_ *caller, p *peer) string {
				go func() {
					for i := range 20 {
						p.say(subscribe(fmt.Sprint(i), manyReleases))
					}
				}()
				var t tally
				for range 20 {
					t.add(p.until("next", "error"))
				}
				return t.String()
			}),
		},
	}
}

// mute opens connections on which nothing is said, and asks a good question on one more of the same address.
func mute(ctx context.Context, c *caller) (string, error) {
	from := c.from(net.IPv4(127, 0, 4, byte(1+c.round)))
	defer from.client.CloseIdleConnections()
	var mu sync.Mutex
	var open []io.Closer
	defer func() {
		for _, conn := range open {
			_ = conn.Close()
		}
	}()
	got := repeat(300, 10, func(int) (string, error) {
		got, conn, err := quiet(ctx, from)
		mu.Lock()
		defer mu.Unlock()
		if conn != nil {
			open = append(open, conn)
		}
		return got, err
	})
	good, err := from.as(actor.Developer).post(ctx, "{ viewer { name } }", nil)
	return fmt.Sprintf("%s; good %s", got, good), err
}

// visit opens one connection that stays open until the closer is closed.
type visit func(ctx context.Context, c *caller) (string, io.Closer, error)

// crowd makes many visits from an address of their own, and opens a socket of another token's from another
// address while all of them are there.
func crowd(visits int, one visit) func(context.Context, *caller) (string, error) {
	return func(ctx context.Context, c *caller) (string, error) {
		var mu sync.Mutex
		var open []io.Closer
		defer func() {
			for _, conn := range open {
				_ = conn.Close()
			}
		}()
		from := c.from(net.IPv4(127, 0, 3, byte(1+c.round)))
		got := repeat(visits, 10, func(int) (string, error) {
			got, conn, err := one(ctx, from)
			mu.Lock()
			defer mu.Unlock()
			if conn != nil {
				open = append(open, conn)
			}
			return got, err
		})
		other, err := c.as(actor.Developer).welcome(ctx)
		if err != nil {
			return fmt.Sprintf("%s; another %v", got, err), nil
		}
		return fmt.Sprintf("%s; another connection_ack", got), other.conn.Close()
	}
}

// nameless opens a socket without a token and hears how it ends.
func nameless(ctx context.Context, c *caller) (string, io.Closer, error) {
	p, err := c.socket(ctx)
	if err != nil {
		return "refused", nil, nil //nolint:nilerr // that is a verdict
	}
	p.say(`{"type":"connection_init"}`)
	return p.hear(), p.conn, nil
}

// silent opens a socket and says nothing.
func silent(ctx context.Context, c *caller) (string, io.Closer, error) {
	p, err := c.socket(ctx)
	if err != nil {
		return "refused", nil, nil //nolint:nilerr // that is a verdict
	}
	return "silent", p.conn, nil
}

// known opens a socket of the viewer's.
func known(ctx context.Context, c *caller) (string, io.Closer, error) {
	p, err := c.as(actor.Viewer).welcome(ctx)
	if err != nil {
		return "refused", nil, nil //nolint:nilerr // that is a verdict
	}
	return "connection_ack", p.conn, nil
}

// quiet opens a connection and says nothing.
func quiet(ctx context.Context, c *caller) (string, io.Closer, error) {
	conn, err := c.dial(ctx)
	if err != nil {
		return "refused", nil, nil //nolint:nilerr // that is a verdict
	}
	return "open", conn, nil
}

// gorge asks for lists of releases on 100 connections and reads nothing of them.
func gorge(ctx context.Context, c *caller) (string, error) {
	const query = "{ deployments(first: 20) { nodes { release { inputs } } } }"
	return flood(100, 100, func(int) (string, error) {
		conn, err := c.dial(ctx)
		if err != nil {
			return "", err
		}
		defer func() { _ = conn.Close() }()
		if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
			return "", err
		}
		body := fmt.Sprintf(`{"query":%q}`, query)
		_, err = fmt.Fprintf(conn, "POST /graphql HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"+
			"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", c.token, len(body), body)
		if err != nil {
			return "", err
		}
		return cut(conn, " "), nil
	})
}

// spenders are attacks by those who spend all that they have.
func spenders() []attack {
	const spent = "(200, )?429 Request:RATE_LIMITED costCapacity"
	spend := func(who actor.Role, query string) func(context.Context, *caller) (string, error) {
		return func(ctx context.Context, c *caller) (string, error) {
			return repeat(40, 4, func(int) (string, error) { return c.as(who).post(ctx, query, nil) }).kinds(), nil
		}
	}
	return []attack{
		{name: "a token that spends all it has", want: spent, requests: 40, cpu: 2 * time.Second, why: ofRecords,
			run: spend(actor.Admin, aliased(20, "auditEvents(first: 100) { nodes { id } }"))},
		{name: "strangers that spend all they have", want: spent, requests: 40, cpu: 2 * time.Second, why: ofRecords,
			run: spend(anonymous, aliased(20, "moduleDefinitions(first: 100) { nodes { id name type } }"))},
	}
}
