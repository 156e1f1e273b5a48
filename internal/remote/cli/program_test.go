package cli_test

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"slipway/internal/remote/cli"
)

// home is a person's machine: its variables, with the folders of contexts and caches in them.
type home struct {
	variables map[string]string
	config    cli.Config
	stdin     io.Reader
}

// newHome returns a machine on which nothing was done yet.
func newHome(t *testing.T) *home {
	t.Helper()
	h := &home{variables: map[string]string{"HOME": t.TempDir()}, stdin: strings.NewReader("")}
	h.config = cli.Config{
		Patience: 2 * time.Second, Timeout: 20 * time.Second, CommandTimeout: 20 * time.Second,
		Env: func(name string) (string, bool) { text, ok := h.variables[name]; return text, ok },
	}
	return h
}

// with returns the same machine with more variables.
func (h *home) with(variables map[string]string) *home {
	other := *h
	other.variables = maps.Clone(h.variables)
	maps.Copy(other.variables, variables)
	other.config.Env = func(name string) (string, bool) { text, ok := other.variables[name]; return text, ok }
	return &other
}

// at returns the same machine, in whose variables a server and a token are.
func (h *home) at(server, token string) *home {
	return h.with(map[string]string{"SLIPWAY_SERVER": server, "SLIPWAY_TOKEN": token})
}

// typing returns the same machine, if a text comes by standard input.
func (h *home) typing(text string) *home {
	other := h.with(nil)
	other.stdin = strings.NewReader(text)
	return other
}

// outcome is what a command left behind.
type outcome struct {
	code           int
	stdout, stderr string
}

// patience is how long a command may run that should end by itself.
const patience = time.Minute

// root returns the program as far as it is these commands.
func (h *home) root() *cobra.Command {
	root := cli.Group("slipway", "")
	root.SilenceErrors, root.SilenceUsage = true, true
	root.AddCommand(cli.Commands(h.config)...)
	return root
}

// execute runs a command to its end.
func (h *home) execute(ctx context.Context, stdout, stderr io.Writer, args ...string) int {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	root := h.root()
	root.SetArgs(args)
	root.SetIn(h.stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	ran, err := root.ExecuteContextC(ctx)
	code, ok := cli.Exit(ran, err)
	if !ok && err != nil {
		return 2 // as the program does for what is no command
	}
	return code
}

func (h *home) run(t *testing.T, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := h.execute(t.Context(), &stdout, &stderr, args...)
	return outcome{code, stdout.String(), stderr.String()}
}

// must runs a command that is to succeed, and gives what it printed.
func (h *home) must(t *testing.T, args ...string) string {
	t.Helper()
	o := h.run(t, args...)
	if o.code != 0 {
		t.Fatalf("slipway %s: exit code %d, %s", strings.Join(args, " "), o.code, o.stderr)
	}
	return o.stdout
}

// mustFail runs a command that is to fail with the code, to say the texts on standard error and nothing on standard
// output.
func (h *home) mustFail(t *testing.T, code int, says []string, args ...string) outcome {
	t.Helper()
	o := h.run(t, args...)
	if o.code != code || o.stdout != "" {
		t.Errorf("slipway %s: exit code %d, want %d; printed %q; %s", strings.Join(args, " "), o.code, code, o.stdout, o.stderr)
	}
	for _, text := range says {
		if !strings.Contains(o.stderr, text) {
			t.Errorf("slipway %s: said %q, want %q", strings.Join(args, " "), o.stderr, text)
		}
	}
	return o
}

// answering returns a server that a function stands for.
func answering(t *testing.T, handle http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(handle)
	t.Cleanup(s.Close)
	return s
}

// viewerAnswer is what a server answers to whoever asks who he is.
const viewerAnswer = `{"data":{"viewer":{"id":"tok_1","name":"mira","role":"DEVELOPER","organization":{"id":"org_1","slug":"acme","name":"Acme"},"expiresAt":null,"scope":null,"permissions":["READ"]}}}`

// write writes a file of a test.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// readQuery reads the body of a request of GraphQL as text.
func readQuery(t *testing.T, r *http.Request) string {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	return string(body)
}
