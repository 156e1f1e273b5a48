package main_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	main "slipway/cmd/slipway"
)

// It sets TMPDIR, so that it cannot run beside other tests.
func TestDemoPrintsWhatCanBePastedAndLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	ctx, stop := context.WithCancel(context.Background())
	out, in := io.Pipe()
	done := make(chan int, 1)
	go func() {
		args := []string{"demo", "--listen", "0.0.0.0:0", "--admin-listen", "", "--pace", "100"}
		code := main.Run(ctx, args, in, io.Discard, variables{}.lookup)
		_ = in.Close()
		done <- code
	}()
	var printed strings.Builder
	url := ""
	for lines := bufio.NewScanner(out); url == "" && lines.Scan(); {
		printed.WriteString(lines.Text() + "\n")
		url, _ = strings.CutPrefix(lines.Text(), "ready: ")
		if url == lines.Text() {
			url = ""
		}
	}
	token := regexp.MustCompile(`(?m)^export SLIPWAY_TOKEN=(slp_admin_\w+)$`).FindStringSubmatch(printed.String())
	if url == "" || token == nil || !strings.Contains(printed.String(), "export SLIPWAY_SERVER="+url+"\n") {
		t.Fatalf("no URL and token: %s", &printed)
	}
	for _, line := range regexp.MustCompile(`(?m)^curl "\$SLIPWAY_SERVER(\S+)"`).FindAllStringSubmatch(printed.String(), -1) {
		if got := status(t, url+line[1], token[1]); got != 200 {
			t.Errorf("%s: %d", line[0], got)
		}
	}
	rollback := regexp.MustCompile(`(?m)^curl -X POST "\$SLIPWAY_SERVER(\S+)"`).FindStringSubmatch(printed.String())
	if rollback == nil || !strings.Contains(printed.String(), "carried out as you watch") {
		t.Fatalf("nothing to deploy: %s", &printed)
	}
	carriedOut(t, url, rollback[1], token[1])
	for origin, want := range map[string]int{
		"http://localhost:5173": 200, "http://127.0.0.1:3000": 200, "http://[::1]:4200": 200, "http://evil.example:5173": 403,
	} {
		if got, _ := preflight(t, url, origin); got != want {
			t.Errorf("a page of %s: %d, want %d", origin, got, want)
		}
	}
	for header, want := range map[string]int{
		"": 403, "Sec-Fetch-Site: cross-site\r\n": 403, "Sec-Fetch-Site: same-origin\r\n": 200,
		"Sec-Fetch-Site: same-origin\r\nHost: evil.example\r\n": 421,
	} {
		answer, body := say(t, "127.0.0.1", url, "/playground/config.json", header)
		if answer.StatusCode != want || strings.Contains(body, token[1]) != (want == 200) {
			t.Errorf("the explorer's token for %q: %d %s", header, answer.StatusCode, body)
		}
	}
	stop()
	if code := <-done; code != 0 {
		t.Errorf("exit code %d", code)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left %v, error %v", left, err)
	}
}

// carriedOut posts a rollback to a path of the API and asks for what it makes until that has succeeded.
func carriedOut(t *testing.T, url, path, token string) {
	t.Helper()
	type answer struct {
		Data struct {
			ID          string
			CompletedAt *string
			Error       any
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ask := func(method, path string) (a answer) {
		r, err := http.NewRequestWithContext(ctx, method, url+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Body.Close()
		if err := json.NewDecoder(got.Body).Decode(&a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	made := ask(http.MethodPost, path)
	for made.Data.CompletedAt == nil {
		made = ask(http.MethodGet, "/deployments/"+made.Data.ID)
	}
	if made.Data.Error != nil {
		t.Errorf("%s: %v", path, made.Data.Error)
	}
}

func TestTheDemosPaceIsANumberWithinLimits(t *testing.T) {
	t.Parallel()
	for _, pace := range []string{"fast", "-1", "0.001", "1001", "NaN", "+Inf", ""} {
		mustFail(t, 2, `--pace: want 0 or a number from 0.01 to 1000, found "`+pace+`"`, "demo", "--pace", pace)
	}
}
