package rest_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/test/worldtest"
)

var update = flag.Bool("update", false, "write the golden exchanges of testdata anew")

var named = regexp.MustCompile(`^\d{3}`)

// golden compares an exchange with the file of its name in testdata. A name that begins with a status is of an answer with it.
func golden(t *testing.T, w *worldtest.World, name string, e exchange, got worldtest.Response) {
	t.Helper()
	path := filepath.Join("testdata", name+".http")
	if status := named.FindString(filepath.Base(name)); status != "" && status != fmt.Sprint(got.Status) {
		t.Errorf("%s is answered with %d: %s", name, got.Status, got.Body)
		return
	}
	text := normalized(w, transcript(t, e, got))
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; write it by: go test ./rest -update", err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}

// transcript writes an exchange as HTTP has it, with its JSON indented.
func transcript(t *testing.T, e exchange, got worldtest.Response) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", e.method, e.path)
	if e.token != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\n", e.token)
	}
	for _, name := range slices.Sorted(maps.Keys(e.headers)) {
		fmt.Fprintf(&b, "%s: %s\n", name, e.headers[name])
	}
	if len(e.body) > 2000 {
		fmt.Fprintf(&b, "\n(%d bytes)\n", len(e.body))
	} else if e.body != "" {
		fmt.Fprintf(&b, "\n%s\n", e.body)
	}
	fmt.Fprintf(&b, "\n%d %s\n", got.Status, http.StatusText(got.Status))
	for _, name := range slices.Sorted(maps.Keys(got.Header)) {
		if !slices.Contains(incidental, name) {
			fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(got.Header[name], ", "))
		}
	}
	if len(got.Body) > 0 {
		b.WriteByte('\n')
		var indented bytes.Buffer
		if err := json.Indent(&indented, got.Body, "", "  "); err != nil {
			t.Errorf("the body is not JSON: %v: %s", err, got.Body)
		}
		b.Write(indented.Bytes())
	}
	return b.String()
}

// incidental headers are net/http's own affair, or depend on the second.
var incidental = []string{"Content-Length", "Date", "Connection", "Ratelimit", "Ratelimit-Limit", "Ratelimit-Policy", "Ratelimit-Remaining", "Ratelimit-Reset"}

var (
	anyID      = regexp.MustCompile(`\b(org|prj|env|mod|mver|inst|rel|dep|dvd)_[0-9a-z]{26}\b`)
	anyTime    = regexp.MustCompile(`\b20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(\.[0-9]+)?Z`)
	anyRequest = regexp.MustCompile(`\breq_[A-Z0-9]{26}\b`)
	anyCursor  = regexp.MustCompile(`(nextCursor": "|cursor=)[A-Za-z0-9_-]{20,}`)
	anyWait    = regexp.MustCompile(`((?m:^Retry-After: )|retryAfterSeconds": |Try again in )[0-9]+`)
)

// normalized returns what differs from run to run a name.
func normalized(w *worldtest.World, text string) string {
	if w.Superadmin != "" {
		text = strings.ReplaceAll(text, w.Superadmin, "<superadmin>")
	}
	for name, o := range map[string]*worldtest.Org{"acme": w.Acme, "globex": w.Globex} {
		if o == nil {
			continue
		}
		for role, token := range o.Tokens {
			text = strings.ReplaceAll(text, token, fmt.Sprintf("<%s of %s>", role, name))
		}
		text = strings.ReplaceAll(text, o.ID, "<org "+name+">")
	}
	text = anyCursor.ReplaceAllString(text, "${1}<cursor>")
	text = anyTime.ReplaceAllString(text, "<time>")
	text = anyRequest.ReplaceAllString(text, "<request>")
	text = anyWait.ReplaceAllString(text, "${1}<seconds>")
	names, count := map[string]string{}, map[string]int{}
	return anyID.ReplaceAllStringFunc(text, func(found string) string {
		if names[found] == "" {
			kind, _, _ := strings.Cut(found, "_")
			count[kind]++
			names[found] = fmt.Sprintf("<%s %d>", kind, count[kind])
		}
		return names[found]
	})
}
