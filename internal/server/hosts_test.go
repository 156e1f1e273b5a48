package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"slipway/internal/base/fault"
	"slipway/internal/server"
	"slipway/web"
)

func TestAServerOfThisMachineAnswersUnderItsOwnHostsOnly(t *testing.T) {
	t.Parallel()
	_, s, _ := serve(t, server.Config{LoopbackOnly: true, BaseURL: "https://Demo.Internal:8443/slipway"})
	for host, own := range map[string]bool{
		"localhost": true, "localhost:8080": true, "LocalHost.:1": true, "a.localhost:80": true,
		"127.0.0.1": true, "127.0.0.1:9": true, "127.8.7.6:9": true, "[::1]": true, "[::1]:9": true, "[::ffff:127.0.0.1]:9": true,
		"demo.internal": true, "demo.internal:1": true, "DEMO.internal.:8443": true,
		"evil.example": false, "evil.example:8080": false, "localhost.evil.example": false, "notlocalhost": false,
		"127.0.0.1.evil.example": false, "x.demo.internal": false, "internal": false,
		"192.168.1.5:8080": false, "0.0.0.0:8080": false, "[::]": false, "[2001:db8::1]:80": false, "127.1": false,
	} {
		want := 200
		if !own {
			want = http.StatusMisdirectedRequest
		}
		if resp, body := sendTo(t, host, "GET", s.URL+"/module-definitions", ""); resp.StatusCode != want {
			t.Errorf("%s: %d %s, want %d", host, resp.StatusCode, body, want)
		}
	}
}

func TestARefusedHostIsToldOnEverySurface(t *testing.T) {
	t.Parallel()
	explorer := web.Config{Token: "very-secret"}
	_, s, log := serve(t, server.Config{LoopbackOnly: true, Playground: true, Explorer: explorer})
	const host = "evil.example:8080"
	for _, request := range []struct{ method, path, body string }{
		{"POST", "/graphql", `{"query":"{ __typename }"}`},
		{"GET", "/graphql?query={__typename}", ""},
		{"GET", "/module-definitions", ""},
		{"POST", "/deployments/x/rollback", ""},
		{"GET", "/openapi.json", ""},
		{"GET", "/playground", ""},
		{"GET", "/playground/config.json", ""},
		{"GET", "/", ""},
		{"GET", "/nothing", ""},
	} {
		at := s.URL + request.path
		resp, body := sendTo(t, host, request.method, at, request.body, "Content-Type", "application/json", "Sec-Fetch-Site", "same-origin")
		var refusal struct {
			fault.Data
			Errors []struct {
				Message    string
				Extensions struct{ Code string }
			}
		}
		if err := json.Unmarshal([]byte(body), &refusal); err != nil {
			t.Errorf("%s: %v: %s", request.path, err, body)
		}
		message, code := refusal.Message, refusal.Code
		if strings.HasPrefix(request.path, "/graphql") && len(refusal.Errors) == 1 {
			message, code = refusal.Errors[0].Message, refusal.Errors[0].Extensions.Code
		}
		if resp.StatusCode != 421 || code != string(fault.RequestHostRefused) {
			t.Errorf("%s: %d %s", request.path, resp.StatusCode, body)
		}
		for _, part := range []string{`"evil.example:8080"`, "--base-url", "--trusted-proxies"} {
			if !strings.Contains(message, part) {
				t.Errorf("%s: no %s in %q", request.path, part, message)
			}
		}
	}
	if n := strings.Count(log.String(), `"error":"slipway:Request:HOST_REFUSED"`); n != 9 {
		t.Errorf("%d of 9 log lines name the refusal", n)
	}
}

func TestASocketUnderARefusedHostIsNotOpened(t *testing.T) {
	t.Parallel()
	_, s, _ := serve(t, server.Config{LoopbackOnly: true})
	resp, body := sendTo(t, "evil.example", "GET", s.URL+"/graphql", "", "Connection", "Upgrade", "Upgrade", "websocket",
		"Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==", "Origin", "http://evil.example")
	if resp.StatusCode != 421 || !strings.Contains(body, string(fault.RequestHostRefused)) {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
}

func TestATrustedProxyBringsAnyHost(t *testing.T) {
	t.Parallel()
	for network, want := range map[string]int{"127.0.0.0/8": 200, "10.0.0.0/8": 421} {
		_, s, _ := serve(t, server.Config{LoopbackOnly: true, TrustedProxies: []netip.Prefix{netip.MustParsePrefix(network)}})
		resp, body := sendTo(t, "slipway.example", "GET", s.URL+"/module-definitions", "", "X-Forwarded-For", "203.0.113.5", "X-Forwarded-Host", "localhost")
		if resp.StatusCode != want {
			t.Errorf("%s: %d %s", network, resp.StatusCode, body)
		}
	}
}

func TestAServerOfOthersAnswersUnderAnyHost(t *testing.T) {
	t.Parallel()
	_, s, _ := serve(t, server.Config{})
	if resp, body := sendTo(t, "slipway.example", "GET", s.URL+"/module-definitions", ""); resp.StatusCode != 200 {
		t.Error(fmt.Sprint(resp.StatusCode), body)
	}
}
