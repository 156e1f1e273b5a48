package attacktest_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/edge/auth"
)

// proxy is the address of the one proxy that the servers under these attacks trust.
const proxy = "127.0.0.9"

// What those who forge tokens are told, and everybody else.
const (
	forgers  = `forged 401 Request:UNAUTHENTICATED(, 429 Request:RATE_LIMITED)?; `
	shutOut  = forgers + "good 200"
	forgings = 5000
)

// strangers are attacks by those who have no token, against those who have one.
func strangers() []attack {
	forge := func(name, from, good string, forged, honest func(i int) string) attack {
		return attack{name: name, want: shutOut, requests: forgings, run: func(ctx context.Context, c *caller) (string, error) {
			return c.besiege(ctx, c.from(net.ParseIP(from)), c.from(net.ParseIP(good)), forged, honest)
		}}
	}
	none := func(int) string { return "" }
	always := func(address string) func(int) string { return func(int) string { return address } }
	changing := func(i int) string { return fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255) }
	padded := func(i int) string { return strings.Repeat("10.9.9.9, ", 800) + changing(i) }
	return []attack{
		forge("forged tokens from another address", "127.0.1.1", "127.0.1.2", none, none),
		forge("forged tokens from the same address", "127.0.1.3", "127.0.1.3", none, none),
		forge("forged tokens through the proxy of all", proxy, proxy, always("10.1.1.1"), always("10.1.1.2")),
		forge("forged tokens through the proxy that names nobody", proxy, proxy, none, always("10.1.1.3")),
		forge("forged tokens under changing addresses that no proxy names", "127.0.1.4", "127.0.1.4", changing, none),
		forge("forged tokens under changing addresses that the proxy names", proxy, proxy, changing, always("10.1.1.4")),
		forge("forged tokens in the name of another address", "127.0.1.5", "127.0.1.6", always("127.0.1.6"), none),
		forge("forged tokens behind 800 forwarded addresses", proxy, proxy, padded, always("10.1.1.5")),
		{name: "streams of a token that is revoked", want: "ended; forged 401 Request:UNAUTHENTICATED; good 200", requests: 30,
			cpu: 200 * time.Millisecond, why: "the streams go on for some seconds", run: revoked},
	}
}

// besiege forges tokens, and asks good questions with new tokens meanwhile; each says for whom it is.
func (c *caller) besiege(ctx context.Context, from, good *caller, forged, honest func(int) string) (string, error) {
	defer from.client.CloseIdleConnections()
	defer good.client.CloseIdleConnections()
	answered := make(chan *tally, 1)
	go func() {
		answered <- repeat(5, 1, func(i int) (string, error) {
			fresh, err := c.unseen()
			if err != nil {
				return "", err
			}
			return good.with(fresh).ask(ctx, honest(i))
		})
	}()
	bad := repeat(forgings, 8, func(i int) (string, error) {
		token, err := auth.Generate(actor.Admin, rand.Reader)
		if err != nil {
			return "", err
		}
		return from.with(token.Reveal()).ask(ctx, forged(i))
	})
	return fmt.Sprintf("forged %s; good %s", bad.kinds(), <-answered), nil
}

// ask asks a harmless question for somebody.
func (c *caller) ask(ctx context.Context, forwardedFor string) (string, error) {
	q := request{body: strings.NewReader(harmless)}
	if forwardedFor != "" {
		q.header = map[string]string{"X-Forwarded-For": forwardedFor}
	}
	return c.send(ctx, q)
}

// unseen returns a token that the server has not seen yet.
func (s *server) unseen() (string, error) {
	select {
	case token := <-s.fresh:
		return token, nil
	default:
		return "", errors.New("no new token is left")
	}
}

// revoked opens streams under a token, revokes it and waits for their end. Then a forged token and a new one
// come from the same address.
func revoked(ctx context.Context, c *caller) (string, error) {
	token, err := c.unseen()
	if err != nil {
		return "", err
	}
	from := c.from(net.IPv4(127, 0, 2, byte(c.round))).with(token)
	defer from.client.CloseIdleConnections()
	ends := make(chan error, 30)
	for range cap(ends) {
		answer, err := from.open(ctx, c.watching())
		if err != nil {
			return "", err
		}
		go func() {
			_, _, err := read(answer)
			ends <- err
		}()
	}
	id, err := c.idOf(ctx, token)
	if err == nil {
		_, err = c.command(ctx, "token", "revoke", id)
	}
	for range cap(ends) {
		err = errors.Join(err, <-ends)
	}
	if err != nil {
		return "", err
	}
	forged, err := auth.Generate(actor.Admin, rand.Reader)
	if err != nil {
		return "", err
	}
	fresh, err := c.unseen()
	if err != nil {
		return "", err
	}
	bad, err := from.with(forged.Reveal()).ask(ctx, "")
	good, again := from.with(fresh).ask(ctx, "")
	return fmt.Sprintf("ended; forged %s; good %s", bad, good), errors.Join(err, again)
}

// open opens an event stream; what comes is read by whoever closes it.
func (c *caller) open(ctx context.Context, query string) (*http.Response, error) {
	body, err := operation(query, nil)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/graphql", strings.NewReader(string(body)))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	return c.client.Do(r)
}
