package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// newcomer is somebody without anything, in a home of their own.
type newcomer struct {
	t    *testing.T
	home string
	env  variables
}

func newNewcomer(t *testing.T) *newcomer {
	t.Helper()
	home := t.TempDir()
	return &newcomer{t, home, variables{"HOME": home, "SLIPWAY_DATABASE": "sqlite:" + filepath.Join(home, "slipway.db")}}
}

func (n *newcomer) path(name string) string { return filepath.Join(n.home, name) }

func (n *newcomer) init(args ...string) outcome {
	n.t.Helper()
	return run(n.t, n.env, append([]string{"init", "--org", "acme", "--runner-token", n.path("runner.token")}, args...)...)
}

// files returns what the files of the home have, by their paths, but for the files of locks.
func (n *newcomer) files() map[string]string {
	n.t.Helper()
	all := map[string]string{}
	for path := range testkit.Modes(n.t, n.home) {
		text, err := os.ReadFile(n.path(path))
		if err == nil && !strings.HasSuffix(path, ".lock") && !strings.HasPrefix(path, "slipway.db") {
			all[path] = string(text)
		}
	}
	return all
}

// accounts returns the organizations and the tokens of acme, none if there is no database.
func (n *newcomer) accounts() string {
	n.t.Helper()
	if path, ok := strings.CutPrefix(n.env["SLIPWAY_DATABASE"], "sqlite:"); ok {
		if _, err := os.Stat(path); err != nil {
			return ""
		}
	}
	lists := run(n.t, n.env, "org", "list").stdout
	return lists + run(n.t, n.env, "token", "list", "--org", "acme").stdout
}

func TestInitMakesWhatAFirstDeploymentTakes(t *testing.T) {
	t.Parallel()
	for name, database := range worldtest.Databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNewcomer(t)
			url := database(t)
			n.env["SLIPWAY_DATABASE"] = url
			s := serve(t, "--database", url)
			o := n.init("--name", "Acme Ltd", "--server", s.API)
			if o.code != 0 || o.stderr != "" {
				t.Fatalf("%+v", o)
			}
			for _, says := range []string{"acme", n.path("runner.token"), "context local", s.API, "slipway serve --listen " + strings.TrimPrefix(s.API, "http://"), "slipway runner --server " + s.API} {
				if !strings.Contains(o.stdout, says) {
					t.Errorf("no %q in %s", says, o.stdout)
				}
			}
			if strings.Contains(o.stdout, "slp_") || strings.Contains(o.stdout, url) {
				t.Errorf("shows a secret: %s", o.stdout)
			}
			if list := n.accounts(); !strings.Contains(list, "Acme Ltd") {
				t.Errorf("%s", list)
			}
			token := n.files()["runner.token"]
			if !regexp.MustCompile(`^slp_runner_[0-9A-Za-z]{49}\n$`).MatchString(token) || testkit.Modes(t, n.home)["runner.token"].Perm() != 0o600 {
				t.Errorf("the runner's token is %q", token)
			}
			if o := run(t, n.env, "whoami", "-o", "tsv", "--fields", "role,organization.slug"); o.stdout != "ADMIN\tacme\n" || !strings.Contains(o.stderr, s.API+", context local") {
				t.Errorf("%+v", o)
			}
			if o := run(t, n.env, "context", "list", "-o", "tsv"); o.stdout != "local\t"+s.API+"\tacme\ttrue\tsaved\n" {
				t.Errorf("%+v", o)
			}
		})
	}
}

func TestInitRefusesWhatIsThereAndChangesNothing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		prepare func(n *newcomer)
		args    []string
		code    int
		says    string
	}{
		"organization": {
			func(n *newcomer) {
				run(n.t, n.env, "migrate", "up")
				run(n.t, n.env, "org", "create", "--name", "Acme", "--slug", "acme")
			}, nil, 5, `there is an organization with the slug "acme" already`,
		},
		"file": {func(n *newcomer) { n.write("runner.token", "mine") }, nil, 5, "--runner-token: want a file that does not exist yet"},
		"dangling link": {func(n *newcomer) {
			if err := os.Symlink("nowhere", n.path("runner.token")); err != nil {
				n.t.Fatal(err)
			}
		}, nil, 5, "--runner-token: want a file that does not exist yet"},
		"context": {
			func(n *newcomer) {
				n.write(".config/slipway/config.yaml", "current: other\ncontexts:\n  local: {server: 'http://127.0.0.1:1', token: slp_mine}\n")
			}, nil, 5, "context local: there is a context of the name already",
		},
		"contexts that cannot be read": {func(n *newcomer) { n.write(".config/slipway/config.yaml", "slp_mine") }, nil, 1, "config.yaml:1:1: want current, and contexts"},
		"slug":                         {nil, []string{"--org", "a b"}, 2, `--org: must be 1 to 60 letters`},
		"reserved":                     {nil, []string{"--org", "global"}, 2, `--org: must not be global`},
		"name":                         {nil, []string{"--name", "A\nB"}, 2, `--name: must have no control characters`},
		"server":                       {nil, []string{"--server", "http://slipway.example"}, 2, "want https, or http to this machine"},
		"token":                        {nil, []string{"--runner-token", "slp_runner_secret"}, 2, "found what looks like a token"},
		"folder":                       {nil, []string{"--runner-token", "/nowhere/runner.token"}, 1, "no such file or directory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNewcomer(t)
			if test.prepare != nil {
				test.prepare(n)
			}
			before, accounts := n.files(), n.accounts()
			o := n.init(test.args...)
			if o.code != test.code || !strings.Contains(o.stderr, test.says) || o.stdout != "" || strings.Contains(o.stderr, "slp_runner_secret") {
				t.Errorf("want exit code %d and %q, got %+v", test.code, test.says, o)
			}
			if diff := cmp.Diff(before, n.files()); diff != "" {
				t.Error(diff)
			}
			if after := n.accounts(); after != accounts {
				t.Errorf("was\n%s\nis\n%s", accounts, after)
			}
		})
	}
	mustFail(t, 2, "--org: want text, found nothing", "init", "--runner-token", "x")
}

// write makes a file that only its owner can read.
func (n *newcomer) write(name, text string) {
	n.t.Helper()
	if err := os.MkdirAll(filepath.Dir(n.path(name)), 0o700); err != nil {
		n.t.Fatal(err)
	}
	if err := os.WriteFile(n.path(name), []byte(text), 0o600); err != nil {
		n.t.Fatal(err)
	}
}

func TestOneOfTwoInitsWins(t *testing.T) {
	t.Parallel()
	for name, same := range map[string]func(n, other *newcomer) (args []string){
		"home": func(n, other *newcomer) []string { other.home, other.env = n.home, n.env; return nil },
		"database": func(n, other *newcomer) []string {
			other.env["SLIPWAY_DATABASE"] = n.env["SLIPWAY_DATABASE"]
			return nil
		},
		"file": func(n, other *newcomer) []string {
			return []string{"--org", "other", "--runner-token", n.path("runner.token")}
		},
	} {
		t.Run("of the same "+name, func(t *testing.T) {
			t.Parallel()
			n, other := newNewcomer(t), newNewcomer(t)
			args := same(n, other)
			others := make(chan outcome, 1)
			go func() { others <- other.init(args...) }()
			codes := []outcome{n.init(), <-others}
			if codes[0].code > codes[1].code {
				codes[0], codes[1] = codes[1], codes[0]
			}
			if codes[0].code != 0 || codes[1].code != 5 {
				t.Fatalf("%+v", codes)
			}
			tokens := 0
			homes := map[string]*newcomer{n.home: n, other.home: other}
			for _, one := range homes {
				for file, text := range one.files() {
					if strings.HasSuffix(file, ".token") && strings.HasPrefix(text, "slp_runner_") {
						tokens++
					}
				}
			}
			if tokens != 1 {
				t.Errorf("%d files of tokens", tokens)
			}
		})
	}
}

func TestInitTakesBackWhatItCannotFinish(t *testing.T) {
	t.Parallel()
	n := newNewcomer(t)
	// The folder of the contexts is gone when they are to be replaced: here it is not one that files can be made in.
	n.env["SLIPWAY_CONFIG"] = "/proc/self/config.yaml"
	if o := n.init(); o.code != 1 || o.stdout != "" {
		t.Errorf("%+v", o)
	}
	if left := n.files(); len(left) > 0 || n.accounts() != "" {
		t.Errorf("left %v", left)
	}
}
