package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/test/worldtest"
)

func TestRunnerCarriesOutWhatIsWaitingAndEnds(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	p := w.Fixture(t, w.Acme, "web")
	d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(w.Acme.Tokens[actor.Runner]+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, env := range []variables{
		{"SLIPWAY_TOKEN": w.Acme.Tokens[actor.Runner]},
		{"SLIPWAY_TOKEN": "slp_runner_wrong", "SLIPWAY_TOKEN_FILE": file},
	} {
		env["SLIPWAY_SERVER"] = w.URL
		o := run(t, env, "runner", "--exec", "echo done", "--once", "--deployment-types", "aws:ecs", "--work-dir", t.TempDir(), "--parallel", "2")
		if o.code != 0 || o.stdout != "" || strings.Contains(o.stderr, w.Acme.Tokens[actor.Runner]) {
			t.Errorf("exit code %d, %s", o.code, o.stderr)
		}
		if got := w.Store.Client.Deployment.GetX(w.Acme.As(actor.Viewer), d.ID); got.Status != "SUCCEEDED" {
			t.Errorf("%s: %s", got.Status, o.stderr)
		}
		d = p.Deploy(t, p.Instance.ID, `{"image":"web:2"}`)
	}
}

func TestRunnerWithoutARunnersTokenEndsWithOne(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	args := []string{"runner", "--server", w.URL, "--exec", "true", "--work-dir", t.TempDir(), "--token"}
	mustFail(t, 1, "gives no work: ", append(args, w.Acme.Tokens[actor.Viewer])...)
	mustFail(t, 1, "(slipway:Request:UNAUTHENTICATED)", append(args, "slp_runner_unknown")...)
}

func TestBadSettingOfTheRunnerIsNamed(t *testing.T) {
	t.Parallel()
	mustFail(t, 2, "--server: want URL, found nothing; SLIPWAY_SERVER is not set either", "runner", "--exec", "true")
	mustFail(t, 2, "--exec: want text, found nothing", "runner", "--server", "http://localhost")
	mustFail(t, 2, "--token: want token, found nothing; SLIPWAY_TOKEN is not set either", "runner", "--server", "http://localhost", "--exec", "true")
	mustFail(t, 2, `--exec: want a program and its arguments, separated by spaces, found the character '&'; --stop program runs it without a shell: `+
		`put what needs one into a script, and name that`, "runner", "--server", "http://localhost", "--exec", "true && true", "--stop", "program")
	mustFail(t, 2, `--stop: want one of group, program, found "shell"`, "runner", "--stop", "shell")
	const types = "want one or more of aws:ecs, terraform with commas between, found \"helm\""
	mustFail(t, 2, "--deployment-types: "+types, "runner", "--deployment-types", "helm")
	const variable = "SLIPWAY_DEPLOYMENT_TYPES"
	if o := run(t, map[string]string{variable: "helm"}, "runner"); o.code != 2 || !strings.Contains(o.stderr, variable+": "+types) {
		t.Errorf("%s: exit code %d, %q", variable, o.code, o.stderr)
	}
	mustFail(t, 1, "no such file", "runner", "--server", "http://localhost", "--exec", "true", "--token-file", filepath.Join(t.TempDir(), "none"))
	o := run(t, nil, "runner", "--token", "my secret")
	if want := "slipway: --token: want a token such as slp_runner_…, found 9 bytes that are none\n"; o.code != 2 || o.stderr != want {
		t.Errorf("exit code %d, %q", o.code, o.stderr)
	}
}
