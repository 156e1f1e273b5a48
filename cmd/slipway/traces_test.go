package main_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"slipway/internal/test/testkit"
)

// traced is a collector of spans.
type traced struct {
	*httptest.Server
	mu    sync.Mutex
	spans []*trace.Span
	// bodies are what was sent, as it was.
	bodies bytes.Buffer
}

func collect(t *testing.T) *traced {
	t.Helper()
	c := &traced{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		var sent collector.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(text, &sent)
		}
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.bodies.Write(text)
		for _, resource := range sent.GetResourceSpans() {
			for _, scope := range resource.GetScopeSpans() {
				c.spans = append(c.spans, scope.GetSpans()...)
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// of returns the spans of a trace by their names, and what each is below.
func (c *traced) of(traceID string) (names []string, parents map[string]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	byID := map[string]string{}
	for _, s := range c.spans {
		byID[string(s.GetSpanId())] = s.GetName()
	}
	parents = map[string]string{}
	for _, s := range c.spans {
		if hex.EncodeToString(s.GetTraceId()) == traceID {
			names = append(names, s.GetName())
			parents[s.GetName()] = byID[string(s.GetParentSpanId())]
		}
	}
	return names, parents
}

// exporting starts the program with the variables of OpenTelemetry, and returns its URL and the lines of its log, which end
// with it.
func exporting(t *testing.T, database string, env ...string) (c *exec.Cmd, url string, log <-chan string) {
	t.Helper()
	c = child(t, isSlipway, `exec "$@"`, "serve", "--database", database, "--listen", "127.0.0.1:0", "--admin-listen", "", "--log-format", "json")
	c.Env = append(c.Env, env...)
	stderr, err := c.StderrPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	lines := bufio.NewReader(stderr)
	url = testkit.ReadAddresses(lines).API
	rest := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(lines)
		rest <- string(text)
	}()
	return c, url, rest
}

func TestTracesOfARequestGoToTheCollector(t *testing.T) {
	t.Parallel()
	database := migrated(t)
	must(t, "org", "create", "--database", database, "--name", "Acme", "--slug", "acme")
	token := must(t, "token", "create", "--database", database, "--org", "acme", "--role", "admin", "--name", "admin")
	to := collect(t)
	server, url, log := exporting(t, database, "OTEL_EXPORTER_OTLP_ENDPOINT="+to.URL)
	const caller = "4bf92f3577b34da6a3ce929d0e0e4736"
	ask := func(method, path, body string) {
		r, err := http.NewRequestWithContext(t.Context(), method, url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Traceparent", "00-"+caller+"-00f067aa0ba902b7-01")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
	}
	ask(http.MethodPost, "/graphql", `{"query":"mutation { createProject(input: {name: \"CanaryValue\", slug: \"a\"}) { project { id } } }"}`)
	ask(http.MethodGet, "/deployments/dep_1", "")
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	lines := <-log
	names, parents := to.of(caller)
	for child, parent := range map[string]string{
		"POST /graphql": "", "mutation createProject": "POST /graphql", "transaction": "mutation createProject", "INSERT": "transaction",
		"GET /deployments/{id}": "",
	} {
		if got, is := parents[child]; !is || got != parent {
			t.Errorf("%s is below %q, want %q; there are %q", child, got, parent, names)
		}
	}
	if n := strings.Count(lines, `"traceId":"`+caller+`"`); n != 2 {
		t.Errorf("%d lines of the log have the id of the trace, want 2: %s", n, lines)
	}
	for what, text := range map[string]string{"a span": to.bodies.String(), "the log": lines} {
		if strings.Contains(text, token) || strings.Contains(text, "CanaryValue") {
			t.Errorf("%s has the token or a value", what)
		}
	}
}

func TestWithoutTheVariablesNothingIsTraced(t *testing.T) {
	t.Parallel()
	to := collect(t)
	for _, env := range [][]string{
		nil,
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + to.URL, "OTEL_SDK_DISABLED=true"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + to.URL, "OTEL_TRACES_EXPORTER=none"},
	} {
		server, url, log := exporting(t, migrated(t), env...)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/module-definitions", nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if err := server.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(<-log, "\n")
		at := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, `"msg":"request"`) })
		if at < 0 || strings.Contains(lines[at], "traceId") {
			t.Errorf("%q: the log has %q", env, lines)
		}
		var line map[string]any
		if err := json.Unmarshal([]byte(lines[at]), &line); err != nil {
			t.Error(err)
		}
	}
	if len(to.spans) > 0 {
		t.Errorf("the collector got %d spans", len(to.spans))
	}
}

func TestATraceExporterThatThereIsNotIsRefused(t *testing.T) {
	t.Parallel()
	for env, says := range map[string]string{
		"OTEL_TRACES_EXPORTER=zipkin": `OTEL_TRACES_EXPORTER: want otlp or none, found "zipkin"`,
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1 OTEL_EXPORTER_OTLP_PROTOCOL=grpc": `OTEL_EXPORTER_OTLP_PROTOCOL: want http/protobuf, found "grpc"`,
	} {
		c := child(t, isSlipway, `exec "$@"`, "serve", "--database", file(t), "--listen", "127.0.0.1:0", "--admin-listen", "")
		c.Env = append(c.Env, strings.Split(env, " ")...)
		out, _ := c.CombinedOutput()
		if !strings.Contains(string(out), says) || c.ProcessState.ExitCode() != 2 {
			t.Errorf("%s: code %d, %s", env, c.ProcessState.ExitCode(), out)
		}
	}
}
