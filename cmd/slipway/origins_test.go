package main_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	main "slipway/cmd/slipway"
)

// preflight asks for a page of an origin whether it may post to the API, and gives the origin that may.
func preflight(t *testing.T, url, origin string) (status int, allowed string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodOptions, url+"/graphql", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Origin", origin)
	r.Header.Set("Access-Control-Request-Method", "POST")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer.StatusCode, answer.Header.Get("Access-Control-Allow-Origin")
}

func TestTheOriginsOfTheFlagAndNoOthersAreAllowed(t *testing.T) {
	t.Parallel()
	s := serve(t, "--database", file(t), "--allowed-origins", "https://a.example, https://b.example", "--allowed-origins", "http://localhost:*")
	for origin, want := range map[string]int{
		"https://a.example": 200, "https://b.example": 200, "http://localhost:5173": 200, "https://c.example": 403, "http://127.0.0.1:5173": 403, s.API: 200,
	} {
		if status, _ := preflight(t, s.API, origin); status != want {
			t.Errorf("%s: %d, want %d", origin, status, want)
		}
	}
	if logged := s.Log; strings.Contains(logged, "allowed-origins") {
		t.Errorf("it warns: %s", logged)
	}
}

func TestServeWarnsInOneLineOfEveryOrigin(t *testing.T) {
	t.Parallel()
	s := serve(t, "--database", file(t), "--allowed-origins", "*")
	warnings := 0
	for line := range strings.Lines(s.Log) {
		if strings.Contains(line, `"WARN"`) && strings.Contains(line, "--allowed-origins contains *") {
			warnings++
		}
	}
	if status, allowed := preflight(t, s.API, "https://any.example"); warnings != 1 || status != 200 || allowed != "https://any.example" {
		t.Errorf("%d warnings, %d %s: %q", warnings, status, allowed, s.Log)
	}
}

func TestTheFlagTakesThePlaceOfWhatTheDemoAllows(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(context.Background())
	out, in := io.Pipe()
	done := make(chan int, 1)
	go func() {
		args := []string{"demo", "--listen", "127.0.0.1:0", "--admin-listen", "", "--pace", "0", "--allowed-origins", "https://app.example"}
		code := main.Run(ctx, args, in, io.Discard, variables{}.lookup)
		_ = in.Close()
		done <- code
	}()
	t.Cleanup(func() { stop(); <-done })
	url := ""
	for lines := bufio.NewScanner(out); url == "" && lines.Scan(); {
		if at, ready := strings.CutPrefix(lines.Text(), "ready: "); ready {
			url = at
		}
	}
	for origin, want := range map[string]int{"https://app.example": 200, "http://localhost:5173": 403} {
		if status, _ := preflight(t, url, origin); status != want {
			t.Errorf("%s: %d, want %d", origin, status, want)
		}
	}
}
