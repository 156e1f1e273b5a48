package main_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	main "slipway/cmd/slipway"
)

func TestHealthSaysWhetherTheServerIsReady(t *testing.T) {
	t.Parallel()
	status, text := http.StatusOK, "ok\nwrites: failing"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			t.Errorf("it asks for %s", r.URL)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(text + "\n"))
	}))
	address := strings.TrimPrefix(s.URL, "http://")
	if out := must(t, "health", "--admin-listen", address); out != text {
		t.Errorf("it prints %q", out)
	}

	status, text = http.StatusServiceUnavailable, "database unreachable"
	mustFail(t, 1, "the server is not ready: database unreachable", "health", "--admin-listen", address)
	s.Close()
	mustFail(t, 1, "the server is not ready: ", "health", "--admin-listen", address)
	mustFail(t, 2, "--admin-listen", "health", "--admin-listen", "nowhere")
}

func TestAServerOnAllAddressesIsReachedByLoopback(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"0.0.0.0:9090": "127.0.0.1:9090", ":9090": "127.0.0.1:9090", "[::]:9090": "[::1]:9090", "10.0.0.7:1": "10.0.0.7:1",
		"localhost:1": "localhost:1",
	} {
		if got := main.Reachable(address); got != want {
			t.Errorf("%s is reached by %s, want %s", address, got, want)
		}
	}
}
