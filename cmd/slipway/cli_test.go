package main_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestHelpListsTheCommandsOfUsersApart(t *testing.T) {
	t.Parallel()
	help := must(t, "--help")
	for head, commands := range map[string][]string{
		"Use a server:":             {"login", "projects", "deployments", "api", "completion"},
		"Run a server or a runner:": {"init", "serve", "demo", "runner", "migrate", "backup", "restore", "check", "org", "token"},
	} {
		_, section, _ := strings.Cut(help, head)
		section, _, _ = strings.Cut(section, "\n\n")
		for _, command := range commands {
			if !regexp.MustCompile(`(?m)^  ` + command + ` `).MatchString(section) {
				t.Errorf("under %q there is no %s: %s", head, command, section)
			}
		}
	}
}

func TestCommandsUseAServerThatIsServed(t *testing.T) {
	t.Parallel()
	url := migrated(t)
	must(t, "org", "create", "--database", url, "--name", "Acme", "--slug", "acme")
	token := filepath.Join(t.TempDir(), "token")
	must(t, "token", "create", "--database", url, "--org", "acme", "--role", "admin", "--name", "mira", "--to", token)
	s := serve(t, "--database", url)
	env := variables{"HOME": t.TempDir()}
	for _, command := range []string{
		"login --server " + s.API + " --context prod --token-command cat\t" + token,
		"projects create shop --name Shop", "environments create shop/prod", "projects list",
	} {
		args := strings.Fields(command)
		for i := range args[:len(args)-1] {
			if args[i] == "--token-command" {
				args = append(args[:i+1], "cat "+token)
				break
			}
		}
		if o := run(t, env, args...); o.code != 0 {
			t.Fatalf("slipway %s: %+v", command, o)
		}
	}
	if o := run(t, env, "environments", "list", "-o", "name"); o.stdout != "shop/prod\n" {
		t.Errorf("%+v", o)
	}
	for code, command := range map[int]string{2: "projects show", 5: "projects show nothing"} {
		if o := run(t, env, strings.Fields(command)...); o.code != code || !strings.HasPrefix(o.stderr, "slipway: ") || o.stdout != "" {
			t.Errorf("slipway %s: %+v", command, o)
		}
	}
}
