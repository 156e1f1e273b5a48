package main_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

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
		args := []string{"demo", "--listen", "127.0.0.1:0", "--admin-listen", ""}
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
	if url == "" || token == nil || !strings.Contains(printed.String(), "export SLIPWAY_URL="+url+"\n") {
		t.Fatalf("no URL and token: %s", &printed)
	}
	for _, line := range regexp.MustCompile(`(?m)^curl "\$SLIPWAY_URL(\S+)"`).FindAllStringSubmatch(printed.String(), -1) {
		if got := status(t, url+line[1], token[1]); got != 200 {
			t.Errorf("%s: %d", line[0], got)
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
