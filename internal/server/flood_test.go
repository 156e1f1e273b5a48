package server_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/edge/auth"
	"slipway/internal/server"
	"slipway/internal/service/account"
	"slipway/internal/test/worldtest"
)

// ask sends a token from an address of this machine, on behalf of a client if one is named.
func ask(ctx context.Context, t *testing.T, client *http.Client, url, token, forwardedFor string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/module-definitions?limit=1", nil)
	if err != nil {
		t.Error(err)
		return nil
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if forwardedFor != "" {
		r.Header.Set("X-Forwarded-For", forwardedFor)
	}
	answer, err := client.Do(r)
	if err != nil {
		t.Error(err)
		return nil
	}
	_ = answer.Body.Close()
	return answer
}

// clientOf returns a client that connects from an address of this machine.
func clientOf(t *testing.T, address string) *http.Client {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	transport := &http.Transport{DialContext: d.DialContext, MaxIdleConnsPerHost: 100}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func TestAFloodOfMadeUpTokensShutsNobodyOut(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		s := httptest.NewServer(server.New(w.Store, server.Config{
			TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.3/32")}, Log: slog.New(slog.DiscardHandler),
		}))
		t.Cleanup(s.Close)
		here, elsewhere, proxy := clientOf(t, "127.0.0.1"), clientOf(t, "127.0.0.2"), clientOf(t, "127.0.0.3")

		var refused atomic.Int64
		var attackers sync.WaitGroup
		over := make(chan struct{})
		flooding := make(chan struct{}, 1000)
		flood := func(client *http.Client, forwardedFor string) {
			attackers.Go(func() {
				for {
					select {
					case <-over:
						return
					default:
					}
					forged, err := auth.Generate(actor.Admin, rand.Reader)
					if err != nil {
						t.Error(err)
						return
					}
					if answer := ask(t.Context(), t, client, s.URL, forged.Reveal(), forwardedFor); answer == nil || answer.StatusCode != 401 {
						t.Errorf("a made-up token: %+v", answer)
						return
					}
					refused.Add(1)
					select {
					case flooding <- struct{}{}:
					default:
					}
				}
			})
		}
		for range 8 { // each waits for the others' look-ups, so that more would only ask for a fast machine
			flood(here, "")
			flood(proxy, "203.0.113.5")
		}
		for range 100 { // far over what the addresses may fail
			<-flooding
		}
		for range 10 {
			for name, from := range map[string]struct {
				client       *http.Client
				forwardedFor string
			}{
				"another address":                           {elsewhere, ""},
				"the attacker's own":                        {here, ""},
				"another client of the proxy":               {proxy, "203.0.113.6"},
				"the attacker behind the proxy":             {proxy, "203.0.113.5"},
				"a client who says that it is the attacker": {elsewhere, "203.0.113.5"},
			} {
				_, secret, err := w.Accounts.CreateToken(w.Acme.As(actor.Admin), account.NewToken{Name: "fresh", Role: actor.Viewer})
				if err != nil {
					t.Fatal(err)
				}
				if answer := ask(t.Context(), t, from.client, s.URL, secret.Reveal(), from.forwardedFor); answer == nil || answer.StatusCode != 200 {
					t.Errorf("a good token of %s: %+v", name, answer)
				}
			}
		}
		close(over)
		attackers.Wait()
		if n := refused.Load(); n < 100 {
			t.Errorf("only %d made-up tokens", n)
		}
	})
}

func TestTheLimitOfFailuresIsThatOfTheConfig(t *testing.T) {
	t.Parallel()
	w, s, _ := serve(t, server.Config{MaxFailures: 7})
	resp, _ := send(t, "GET", s.URL+"/module-definitions", "", "Authorization", "Bearer nonsense")
	if limit := resp.Header.Get("RateLimit-Limit"); limit != "7" || resp.Header.Get("RateLimit-Remaining") != "6" {
		t.Errorf("%v", resp.Header)
	}
	query := `{"query":"{ __typename }"}`
	resp, _ = send(t, "POST", s.URL+"/graphql", query, "Authorization", "Bearer nonsense", "Content-Type", "application/json")
	if limit := resp.Header.Get("RateLimit-Limit"); limit != "7" || resp.Header.Get("RateLimit-Remaining") != "5" {
		t.Errorf("GraphQL: %v", resp.Header)
	}
	if resp, body := send(t, "GET", s.URL+"/module-definitions", "", "Authorization", "Bearer "+w.Acme.Tokens[actor.Viewer]); resp.StatusCode != 200 {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
}
