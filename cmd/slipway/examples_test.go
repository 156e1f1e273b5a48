package main_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	main "slipway/cmd/slipway"
)

// examples returns the absolute path of the examples.
func examples(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestThePipelinePublishesDeploysAndGoesBack(t *testing.T) {
	t.Parallel()
	n := newNewcomer(t)
	delete(n.env, "SLIPWAY_DATABASE")
	// Each check prints a line that begins with "is ".
	printed := n.shell(`
slipway init --org acme >/dev/null
slipway serve 2>serve.log &
slipway runner --server http://127.0.0.1:8080 --token-file runner.token --exec "$EXAMPLES/runner/deploy.sh" 2>runner.log &
slipway projects create shop && slipway environments create shop/prod
ci() { (export SLIPWAY_SERVER=http://127.0.0.1:8080 SLIPWAY_TOKEN="$(slipway token create --org acme --role admin --name ci)"; "$EXAMPLES/ci/deploy.sh" "$@"); }
live() { echo "is $1: $(slipway deployments show shop/prod/orders@live --output tsv --fields release.inputs,triggerSource)"; }

ci publish "$EXAMPLES/module/slipway-module.yaml" && ci publish "$EXAMPLES/module/slipway-module.yaml"; echo "is published twice: $?"
slipway instances create shop/prod/orders --module acme/queue
ci preview shop/prod/orders "$EXAMPLES/module/staging.yaml" | sed 's/^/is previewed: /'
ci deploy shop/prod/orders "$EXAMPLES/module/staging.yaml"; echo "is deployed: $?"; live staging
ci deploy shop/prod/orders "$EXAMPLES/module/prod.yaml"; echo "is deployed: $?"; live prod
echo 'size: 9' >broken.yaml
ci deploy shop/prod/orders broken.yaml; echo "is failed: $?"; live again
echo 'size: 11' >wrong.yaml
ci deploy shop/prod/orders wrong.yaml; echo "is refused: $?"
echo 'size: 2' >unwell.yaml
CHECK='grep -q "endpoint.*nowhere"' ci deploy shop/prod/orders unwell.yaml; echo "is unwell: $?"; live back
CHECK='grep -q "endpoint.*release.json"' ci deploy shop/prod/orders unwell.yaml; echo "is well: $?"
ci dance shop; echo "is unknown: $?"
"$EXAMPLES/ci/deploy.sh" publish x; echo "is without a server: $?"
`, "EXAMPLES="+examples(t))
	var got []string
	for line := range strings.Lines(printed) {
		if says, ok := strings.CutPrefix(line, "is "); ok {
			got = append(got, strings.TrimSpace(says))
		}
	}
	want := []string{
		"published twice: 0",
		"previewed: `shop/prod/orders`: `acme/queue`, `1.0.0` for the first time", "previewed:",
		"previewed: | | where | before | after | |", "previewed: |---|---|---|---|---|",
		"previewed: | `+` | `/name` | | `\"prod-orders\"` | default of 1.0.0 |", "previewed: | `+` | `/size` | | `1` | |",
		"deployed: 0", `staging: {"name":"prod-orders","size":1} api`,
		"deployed: 0", `prod: {"alarm_emails":["ops@acme.example"],"name":"prod-orders","size":3} api`,
		"failed: 6", `again: {"alarm_emails":["ops@acme.example"],"name":"prod-orders","size":3} redeploy`,
		"refused: 3",
		"unwell: 1", `back: {"alarm_emails":["ops@acme.example"],"name":"prod-orders","size":3} rollback`,
		"well: 0", "unknown: 2", "without a server: 2",
	}
	if !matches(want, got) {
		t.Errorf("got\n%s\nof\n%s", strings.Join(got, "\n"), printed)
	}
	if strings.Contains(printed, "slp_") {
		t.Errorf("shows a token: %s", printed)
	}
}

// named are the files of the repository that a pipeline names.
var named = regexp.MustCompile(`\bexamples/[\w./-]+`)

func TestThePipelinesOfServicesNameWhatIsThere(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"github.yml", "gitlab-ci.yml"} {
		text, err := os.ReadFile(filepath.Join(examples(t), "ci", file))
		if err != nil {
			t.Fatal(err)
		}
		var pipeline map[string]any
		if err := yaml.Unmarshal(text, &pipeline); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		calls := 0
		for line := range strings.Lines(string(text)) {
			for _, path := range named.FindAllString(line, -1) {
				info, err := os.Stat(filepath.Join("../..", path))
				if err != nil {
					t.Errorf("%s: %v", file, err)
				} else if strings.HasSuffix(path, ".sh") {
					calls++
					if info.Mode().Perm()&0o111 == 0 {
						t.Errorf("%s: %s cannot be run", file, path)
					}
				}
			}
		}
		if calls != 4 {
			t.Errorf("%s calls the script %d times", file, calls)
		}
	}
}

func TestTheRequestsForEditorsAreAnswered(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(examples(t), "requests.http"))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), "\n### ")
	d := runDemo(t, "0")
	given := []string{"{{server}}", d.url, "{{token}}", d.token, "{{deployment}}", d.live, "{{earlier}}", d.earlier}
	for _, name := range regexp.MustCompile(`(?m)^@(\w+) = `).FindAllStringSubmatch(parts[0], -1) {
		if !strings.Contains(strings.Join(given, " "), "{{"+name[1]+"}}") {
			t.Errorf("the variable %s has no value", name[1])
		}
	}
	if len(parts) < 6 {
		t.Fatalf("only %d requests", len(parts)-1)
	}
	for _, part := range parts[1:] {
		name, request, _ := strings.Cut(strings.NewReplacer(given...).Replace(part), "\n")
		if strings.Contains(request, "{{") {
			t.Errorf("%s: a variable is not declared: %s", name, request)
		}
		head, body, _ := strings.Cut(request, "\n\n")
		lines := strings.Split(head, "\n")
		method, url, _ := strings.Cut(lines[0], " ")
		r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines[1:] {
			if key, value, ok := strings.Cut(line, ": "); ok {
				r.Header.Set(key, value)
			}
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode >= 300 || strings.Contains(string(got), `"errors"`) {
			t.Errorf("%s: %s, %v: %s", name, answer.Status, err, got)
		}
	}
}

// running is a demo, and what it says of itself.
type running struct{ url, token, live, earlier string }

// runDemo runs a demo at a pace.
func runDemo(t *testing.T, pace string) (d running) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	out, in := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		main.Run(ctx, []string{"demo", "--listen", "127.0.0.1:0", "--admin-listen", "", "--pace", pace}, in, io.Discard, variables{}.lookup)
		_ = in.Close()
	}()
	t.Cleanup(func() { stop(); _ = out.Close(); <-done })
	says := map[string]*string{
		`^ready: (\S+)`: &d.url, `^export SLIPWAY_TOKEN=(\S+)`: &d.token,
		`^curl "\S+/deployments/(\w+)"`: &d.live, `^curl -X POST "\S+/deployments/(\w+)/rollback"`: &d.earlier,
	}
	for lines := bufio.NewScanner(out); d.url == "" && lines.Scan(); {
		for pattern, to := range says {
			if found := regexp.MustCompile(pattern).FindStringSubmatch(lines.Text()); found != nil {
				*to = found[1]
			}
		}
	}
	if d.token == "" || d.live == "" || d.earlier == "" {
		t.Fatalf("the demo said only %+v", d)
	}
	return d
}
