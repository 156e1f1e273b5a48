package cli_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// recorder is a server that notes what it is sent.
type recorder struct {
	url  string
	mu   sync.Mutex
	sent []string
}

func recording(t *testing.T) *recorder {
	t.Helper()
	r := &recorder{}
	r.url = answering(t, func(w http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.sent = append(r.sent, request.Header.Get("Authorization")+" "+request.Header.Get("Slipway-Organization")+" "+string(body))
		_, _ = io.WriteString(w, viewerAnswer)
	}).URL
	return r
}

func (r *recorder) heard() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.sent, "\n")
}

func (h *home) file() string {
	return filepath.Join(h.variables["HOME"], ".config", "slipway", "config.yaml")
}

func (h *home) content(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(h.file())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestATokenIsSavedFromAFile(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(w.Acme.Tokens[actor.Viewer]+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := newHome(t)
	h.must(t, "login", "--server", w.URL, "--token-file", file)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if out := h.must(t, "whoami", "--fields", "role", "-o", "tsv"); out != "VIEWER\n" {
		t.Errorf("%q", out)
	}
}

func TestLoginKeepsWhatTheServerAccepts(t *testing.T) {
	t.Parallel()
	h, s := newHome(t), recording(t)
	out := h.typing("slp_developer_secret\n").must(t, "login", "--server", s.url+"/", "--context", "prod", "--with-token", "-o", "json")
	if !strings.Contains(out, `"organization": "acme"`) || strings.Contains(out, "secret") {
		t.Errorf("printed %s", out)
	}
	want := "current: prod\ncontexts:\n  prod:\n    server: " + s.url + "\n    organization: acme\n    token: slp_developer_secret\n"
	if got := h.content(t); got != want {
		t.Errorf("kept %q, want %q", got, want)
	}
	for name, mode := range testkit.Modes(t, filepath.Dir(h.file())) {
		if mode.Perm()&0o077 != 0 {
			t.Errorf("%s can be read by others: %v", name, mode)
		}
	}
	h.must(t, "whoami")
	if got := h.must(t, "whoami", "--fields", "name,organization.slug", "-o", "tsv"); got != "mira\tacme\n" {
		t.Errorf("whoami %q", got)
	}
	if heard := s.heard(); strings.Count(heard, "Bearer slp_developer_secret acme ") != 4 {
		t.Errorf("the server heard %s", heard)
	}
}

func TestLoginThatIsRefusedKeepsNothing(t *testing.T) {
	t.Parallel()
	refusing := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"code":"slipway:Request:UNAUTHENTICATED","message":"The token is unknown."}`)
	})
	anonymous := answering(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"data":{"viewer":null}}`) })
	for _, test := range []struct {
		code int
		says string
		args []string
	}{
		{4, "The token is unknown.", []string{"--server", refusing.URL, "--with-token"}},
		{4, "does not know who asks", []string{"--server", anonymous.URL, "--with-token"}},
		{2, "[with-token token-file token-command]", []string{"--server", refusing.URL, "--with-token", "--token-command", "x"}},
		{2, "[with-token token-file token-command]", []string{"--server", refusing.URL, "--token-file", "x", "--token-command", "x"}},
		{1, "no such file", []string{"--server", refusing.URL, "--token-file", filepath.Join(t.TempDir(), "none")}},
		{2, "--server: want the URL", []string{"--with-token"}},
		{2, "want a terminal to ask for the token", []string{"--server", refusing.URL}},
		{2, "want https", []string{"--server", "http://slipway.example", "--with-token"}},
		{2, "--server: want an http or https URL", []string{"--server", "slipway.example", "--with-token"}},
		{1, "the token command of the context has failed: exit status 3", []string{"--server", refusing.URL, "--token-command", "echo slp_secret; exit 3"}},
		{1, "found 11 bytes that are none", []string{"--server", refusing.URL, "--token-command", "echo slp_ secret"}},
		{1, "want at most 65536 bytes", []string{"--server", refusing.URL, "--token-command", "yes"}},
	} {
		h := newHome(t).typing("slp_secret")
		o := h.mustFail(t, test.code, []string{test.says}, append([]string{"login"}, test.args...)...)
		if strings.Contains(o.stderr, "secret") {
			t.Errorf("%v: said the token: %s", test.args, o.stderr)
		}
		if _, err := os.Stat(h.file()); err == nil {
			t.Errorf("%v: something was kept", test.args)
		}
	}
}

func TestTokenOfACommandIsAskedForEachTime(t *testing.T) {
	t.Parallel()
	h, s := newHome(t), recording(t)
	token := write(t, "token", "slp_first")
	h.must(t, "login", "--server", s.url, "--context", "prod", "--token-command", "cat "+token)
	if err := os.WriteFile(token, []byte("slp_second"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.must(t, "whoami")
	if heard := s.heard(); !strings.Contains(heard, "slp_first") || !strings.Contains(heard, "slp_second") {
		t.Errorf("the server heard %s", heard)
	}
	if kept := h.content(t); strings.Contains(kept, "slp_") || !strings.Contains(kept, "tokenCommand: cat ") {
		t.Errorf("kept %s", kept)
	}
}

func TestContextsAreListedChosenAndDeleted(t *testing.T) {
	t.Parallel()
	h, s := newHome(t), recording(t)
	h.typing("slp_a").must(t, "login", "--server", s.url, "--context", "a", "--with-token")
	h.typing("slp_b").must(t, "login", "--server", s.url, "--context", "b", "--with-token")
	list := func() string { return h.must(t, "context", "list", "--fields", "name,current,token", "-o", "tsv") }
	if got := list(); got != "a\tfalse\tsaved\nb\ttrue\tsaved\n" {
		t.Errorf("listed %q", got)
	}
	h.must(t, "context", "use", "a")
	h.must(t, "logout", "--context", "b")
	if got := list(); got != "a\ttrue\tsaved\nb\tfalse\t\n" {
		t.Errorf("listed %q", got)
	}
	h.mustFail(t, 4, []string{"the context b has no token", "slipway login --server " + s.url + " --context b"}, "whoami", "--context", "b")
	h.must(t, "context", "delete", "a")
	if got := list(); got != "b\tfalse\t\n" || strings.Contains(h.content(t), "slp_") {
		t.Errorf("listed %q, kept %s", got, h.content(t))
	}
	h.mustFail(t, 2, []string{"context c: want one of b, found no such context"}, "context", "use", "c")
	h.mustFail(t, 4, []string{"make a context with: slipway login"}, "whoami")
}

// Each of two contexts, and the variables, have a server and a token of their own, and no server ever hears the token of
// another, whatever is said on the command line.
func TestServerAndTokenAreOfOnePlace(t *testing.T) {
	t.Parallel()
	h, a, b, env := newHome(t), recording(t), recording(t), recording(t)
	h.typing("slp_of_a").must(t, "login", "--server", a.url, "--context", "a", "--with-token")
	h.typing("slp_of_b").must(t, "login", "--server", b.url, "--context", "b", "--with-token")
	file := write(t, "token", "slp_of_file")
	for _, test := range []struct {
		server, token, context string
		args                   []string
		says                   []string // where it is refused
	}{
		{args: []string{"--context", "a"}},
		{context: "a"},
		{},
		{server: env.url, token: "slp_of_env"},
		{server: env.url, token: "slp_of_env", args: []string{"--context", "b"}},
		{args: []string{"--server", env.url, "--token-file", file}},
		{token: "slp_of_env", args: []string{"--server", env.url, "--token-file", file}},
		{token: "slp_of_env", says: []string{"SLIPWAY_SERVER", "SLIPWAY_TOKEN"}},
		{server: env.url, says: []string{"SLIPWAY_SERVER", "SLIPWAY_TOKEN"}},
		{server: env.url, token: "slp_of_env", context: "a", says: []string{"SLIPWAY_CONTEXT", "SLIPWAY_SERVER", "SLIPWAY_TOKEN"}},
		{token: "slp_of_env", context: "a", says: []string{"SLIPWAY_CONTEXT", "SLIPWAY_TOKEN"}},
		{token: "slp_of_env", args: []string{"--server", a.url}, says: []string{"--server", "--token-file", "SLIPWAY_TOKEN"}},
		{server: a.url, args: []string{"--token-file", file}, says: []string{"--server", "--token-file", "SLIPWAY_SERVER"}},
		{args: []string{"--context", "a", "--server", b.url}, says: []string{"--context a", "--server " + b.url}},
		{args: []string{"--context", "a", "--server", b.url, "--token-file", file}, says: []string{"--context a", "--server " + b.url}},
	} {
		variables := map[string]string{}
		for name, text := range map[string]string{"SLIPWAY_SERVER": test.server, "SLIPWAY_TOKEN": test.token, "SLIPWAY_CONTEXT": test.context} {
			if text != "" {
				variables[name] = text
			}
		}
		args := append([]string{"whoami"}, test.args...)
		if test.says != nil {
			h.with(variables).mustFail(t, 2, test.says, args...)
			continue
		}
		h.with(variables).must(t, args...)
	}
	for of, s := range map[string]*recorder{"slp_of_a": a, "slp_of_b": b} {
		if heard := s.heard(); strings.Count(heard, "Bearer ") != strings.Count(heard, "Bearer "+of+" ") || heard == "" {
			t.Errorf("the server of %s heard %s", of, heard)
		}
	}
	if heard := env.heard(); strings.Contains(heard, "slp_of_a") || strings.Contains(heard, "slp_of_b") {
		t.Errorf("the server of the variables heard %s", heard)
	}
}

func TestFileOfContextsIsRefusedWhereOthersCanReadIt(t *testing.T) {
	t.Parallel()
	h, s := newHome(t), recording(t)
	h.typing("slp_secret").must(t, "login", "--server", s.url, "--context", "a", "--with-token")
	for _, mode := range []os.FileMode{0o640, 0o604, 0o644} {
		if err := os.Chmod(h.file(), mode); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"whoami"}, {"context", "list"}, {"context", "use", "a"}} {
			h.mustFail(t, 1, []string{"chmod 600 '" + h.file() + "'"}, args...)
		}
	}
	if err := os.Chmod(h.file(), 0o600); err != nil {
		t.Fatal(err)
	}
	h.must(t, "whoami")
}

func TestBadFileOfContextsIsToldWithoutItsContent(t *testing.T) {
	t.Parallel()
	for text, place := range map[string]string{
		"current: a\ncontexts:\n  a: {server: http://127.0.0.1:1, tokn: slp_secret}\n":                  ":3:",
		"current: a\ncontexts: slp_secret\n":                                                            ":2:",
		"current: a\ncurrent: slp_secret\n":                                                             ":2:",
		"contexts: {a: {token: slp_secret\n":                                                            "config",
		"contexts: {a: {server: http://127.0.0.1:1, token: slp_secret, tokenCommand: x}}\ncurrent: a\n": "want token or tokenCommand, found both",
		"contexts: {a: {server: nowhere, token: slp_secret}}\ncurrent: a\n":                             "server of the context a: want an http or https URL",
	} {
		h := newHome(t).with(map[string]string{"SLIPWAY_CONFIG": write(t, "config", text)})
		if o := h.mustFail(t, 1, []string{place}, "whoami"); strings.Contains(o.stderr, "secret") {
			t.Errorf("%s: said %s", text, o.stderr)
		}
	}
}

func TestContextsAreChangedByOneCommandAtATime(t *testing.T) {
	t.Parallel()
	h, s := newHome(t), recording(t)
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	var all sync.WaitGroup
	for _, name := range names {
		all.Go(func() {
			h.typing("slp_"+name).run(t, "login", "--server", s.url, "--context", name, "--with-token")
		})
	}
	all.Wait()
	if got := h.must(t, "context", "list", "-o", "name"); got != strings.Join(names, "\n")+"\n" {
		t.Errorf("kept %q", got)
	}
	left, err := filepath.Glob(h.file() + ".*")
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v", left) // the lock alone
	}
}

func TestTokensGoInTheClearToThisMachineAlone(t *testing.T) {
	t.Parallel()
	file := write(t, "token", "slp_secret")
	for _, server := range []string{"http://slipway.example", "http://10.0.0.1:8080", "http://localhost.example", "http://127.0.0.1.example"} {
		newHome(t).mustFail(t, 2, []string{server, "--insecure-http"}, "whoami", "--server", server, "--token-file", file)
		h := newHome(t).at(server, "slp_secret")
		h.mustFail(t, 2, []string{server, "--insecure-http"}, "whoami")
	}
}

func TestFileOfContextsMayBeElsewhere(t *testing.T) {
	t.Parallel()
	s, dir := recording(t), t.TempDir()
	kept := write(t, "kept", "")
	link := filepath.Join(dir, "link")
	if err := os.Symlink(kept, link); err != nil {
		t.Fatal(err)
	}
	for variable, test := range map[string]struct{ text, file string }{
		"SLIPWAY_CONFIG":  {link, kept},
		"XDG_CONFIG_HOME": {dir, filepath.Join(dir, "slipway", "config.yaml")},
	} {
		h := newHome(t).with(map[string]string{variable: test.text})
		h.typing("slp_secret").must(t, "login", "--server", s.url, "--with-token")
		h.must(t, "whoami")
		if text, err := os.ReadFile(test.file); err != nil || !strings.Contains(string(text), "slp_secret") {
			t.Errorf("%s: %v, %s", variable, err, text)
		}
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is no link any more: %v", err)
	}
	h := newHome(t)
	delete(h.variables, "HOME")
	h.mustFail(t, 2, []string{"want SLIPWAY_CONFIG, XDG_CONFIG_HOME or HOME set"}, "whoami")
}
