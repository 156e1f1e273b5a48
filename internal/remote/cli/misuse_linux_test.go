package cli_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/remote/cli"
)

func TestCommandLineThatIsWrongSaysWhatIsWanted(t *testing.T) {
	t.Parallel()
	for line, says := range map[string]string{
		"deploy":                               "deploy: want INSTANCE, found no arguments",
		"deploy a b":                           `deploy: want INSTANCE, found "a", "b"`,
		"compare a":                            `compare: want DEPLOYMENT DEPLOYMENT, found "a"`,
		"projects list shop":                   `projects list: want no arguments, found "shop"`,
		"projects lst":                         `unknown command "lst" for "slipway projects"; want list`,
		"context make":                         `unknown command "make" for "slipway context"; want delete, list or use`,
		"deplyo a/b/c":                         `unknown command "deplyo" for "slipway"; want deploy`,
		"nothing":                              `unknown command "nothing" for "slipway"; slipway --help lists all`,
		"outputs web":                          `want PROJECT/ENVIRONMENT/INSTANCE, or inst_…, or dep_…`,
		"deployments list --in a/b/c/d":        `--in: want the slug of a project, or prj_…, or PROJECT/ENVIRONMENT, or env_…, or PROJECT/ENVIRONMENT/INSTANCE, or inst_…, found "a/b/c/d"`,
		"instances list --in a/b/c/d":          `--in: want the slug of a project, or prj_…, or PROJECT/ENVIRONMENT, or env_…, found`,
		"api GET":                              "want a path after GET, such as /module-definitions, found none",
		"projects list --fields ,":             `--fields: want fields that commas separate, found ","`,
		"preview a/b/c --values - --values -":  "want one file to be standard input, which is read once, found --values - and --values -",
		"preview a/b/c --values - --data @-":   "found --values - and --data @-",
		"deploy a/b/c --artifact @- --data @-": "found --artifact @- and --data @-",
		"preview a/b/c --fields .id":           `--fields: want some of instance, creates, source, liveDeployment, module, fromVersion, toVersion, status, refusal, refusal.code, refusal.message, refusal.description, violations, requirements, inputs, artifact, sourceInputs, warnings, found ".id"`,
		"login --server http://me:pass@h/":     `found "http://me:xxxxx@h/"`,
	} {
		h := newHome(t).at("http://127.0.0.1:1", "slp_x")
		if o := h.run(t, strings.Fields(line)...); o.stdout != "" {
			t.Errorf("%s: printed %q", line, o.stdout)
		}
		var stderr strings.Builder
		root := h.root()
		root.SetArgs(strings.Fields(line))
		root.SetErr(&stderr)
		ran, err := root.ExecuteContextC(t.Context())
		if _, ok := cli.Exit(ran, err); !ok && err != nil {
			stderr.WriteString(err.Error()) // of a group, which the program tells
		}
		if err == nil || !strings.Contains(stderr.String(), says) {
			t.Errorf("%s: said %q, want %q", line, stderr.String(), says)
		}
	}
}

// What cannot be written is told at once, as no server mends it.
func TestFullDiskEndsWhatIsFollowed(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	startRunner(t, s.World, func(r *runner, d *ent.Deployment, lease string) {
		r.prints(d, lease, "one", "two")
		<-t.Context().Done()
	})
	h := s.home(t, s.Acme.Tokens[actor.Developer])
	h.must(t, "deploy", "shop/production/web", "--wait=false")
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = full.Close() }()
	for _, line := range []string{
		"logs shop/production/web --follow", "logs shop/production/web --follow -o json", "watch shop/production/web -o json", "watch shop/production/web -o tsv",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		var stderr strings.Builder
		if code := h.execute(ctx, full, &stderr, strings.Fields(line)...); code != 1 || !strings.Contains(stderr.String(), "no space left on device") || strings.Contains(stderr.String(), "as soon as it answers") {
			t.Errorf("%s: exit code %d, %s", line, code, stderr.String())
		}
		cancel()
	}
}

func TestRollbackOfWhatIsNotLiveNamesTheInstance(t *testing.T) {
	t.Parallel()
	m := newModule(t)
	m.home(t, m.Acme.Tokens[actor.Developer]).mustFail(t, 5, []string{"nothing is live at shop/production/queue; name the deployment to bring back with --to"}, "rollback", "shop/production/queue")
}

func TestOrganizationThatIsMissingIsAskedForByItsFlag(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.home(t, s.Superadmin).mustFail(t, 5, []string{"--organization names it"}, "projects", "list")
}

// Nobody is told to change the mode of a folder or a device.
func TestFileOfContextsIsAFile(t *testing.T) {
	t.Parallel()
	for path, found := range map[string]string{t.TempDir(): "a folder", "/dev/null": "not a regular file"} {
		o := newHome(t).with(map[string]string{"SLIPWAY_CONFIG": path}).mustFail(t, 1, []string{fmt.Sprintf("%s: want a file of contexts, found %s", path, found)}, "context", "list")
		if strings.Contains(o.stderr, "chmod") {
			t.Error(o.stderr)
		}
	}
	// A link to one stays a link.
	h := newHome(t)
	link := filepath.Join(t.TempDir(), "link.yaml")
	if err := os.Symlink(write(t, "contexts.yaml", "contexts: {a: {server: 'https://a'}, b: {server: 'https://b'}}\n"), link); err != nil {
		t.Fatal(err)
	}
	h = h.with(map[string]string{"SLIPWAY_CONFIG": link})
	h.must(t, "context", "use", "b")
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error(info, err)
	}
}

// As that it is so already counts as done.
func TestWhatIsArchivedIsArchivedAgain(t *testing.T) {
	t.Parallel()
	m := newModule(t)
	h := m.home(t, m.Acme.Tokens[actor.Admin])
	first := h.must(t, "instances", "archive", "shop/production/queue", "--fields", "id,archivedAt", "-o", "tsv")
	if again := h.must(t, "instances", "archive", "shop/production/queue", "--fields", "id,archivedAt", "-o", "tsv"); again != first {
		t.Errorf("%q, again %q", first, again)
	}
	h.mustFail(t, 5, []string{"ModuleInstance:NOT_FOUND"}, "instances", "archive", "shop/production/other")
}

// What the API suggests to look at is said as a command.
func TestActiveDeploymentIsNamedByACommand(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	h := s.home(t, s.Acme.Tokens[actor.Developer])
	active := strings.TrimSpace(h.must(t, "deploy", "shop/production/web", "--wait=false", "-o", "name"))
	h.mustFail(t, 5, []string{"Show the active deployment: slipway deployments show " + active}, "deploy", "shop/production/web", "--set", "replicas=5")
}

// A machine whose clock is behind the server's is not told that what has happened is still to come.
func TestClockThatIsBehind(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	h := s.home(t, s.Acme.Tokens[actor.Developer])
	behind := s.clock.Now().Add(-5 * time.Hour)
	h.config.Now = func() time.Time { return behind }
	for _, command := range []string{"deployments list", "deployments show shop/production/web@live", "preview shop/production/web"} {
		p := openTerminal(t, 200)
		code := h.execute(t.Context(), p.command, p.command, strings.Fields(command)...)
		if shown := p.all(); code != 0 || !strings.Contains(shown, "now") || strings.Contains(shown, "in ") {
			t.Errorf("%s: %d: %s", command, code, shown)
		}
	}
}

// What is said after a question that nothing was typed at stands in a line of its own.
func TestQuestionEndsItsLine(t *testing.T) {
	t.Parallel()
	s, p := newStock(t), openTerminal(t, 80)
	h := s.home(t, s.Acme.Tokens[actor.Developer])
	h.stdin = p.command
	go p.types(t, "Deploy? [y/N] ", "\x04")
	code := h.execute(t.Context(), p.command, p.command, "deploy", "shop/production/web")
	if shown := p.all(); code != 1 || !strings.Contains(shown, "[y/N] \nslipway: nothing was changed") {
		t.Errorf("%d: %q", code, shown)
	}
}

func TestNumberOfAFlagIsNoFile(t *testing.T) { //nolint:paralleltest // it changes the folder of the process
	t.Chdir(t.TempDir())
	h := newHome(t)
	h.mustFail(t, 2, []string{"--against-live: want the number after =, as in --against-live=5"}, "modules", "lint", "m.yaml", "--against-live", "5")
	h.mustFail(t, 1, []string{"open slipway-module.yaml: no such file or directory; name the manifest, or write one with: slipway modules init"}, "modules", "lint")
}

func TestFlagsOfADeploymentThatContradictEachOther(t *testing.T) {
	t.Parallel()
	m := newModule(t)
	startRunner(t, m.World, func(r *runner, d *ent.Deployment, lease string) { r.ends(d, lease, nil) })
	h := m.home(t, m.Acme.Tokens[actor.Developer])
	h.must(t, "deploy", "shop/production/queue", "--set", "name=q", "--set", "size=2")
	for flags, says := range map[string]string{
		"--set size=3 --unset /size":             "--set size and --unset /size: want one of them, found both",
		`--set-json /tags/env="a" --unset /tags`: "--set-json /tags/env and --unset /tags: want one of them, found both",
		"--set-json /rules=[] --unset /rules":    "--set-json /rules and --unset /rules: want one of them, found both",
		"--values - --values - --unset /size":    "which is read once",
	} {
		h.mustFail(t, 2, []string{says}, append([]string{"preview", "shop/production/queue"}, strings.Fields(flags)...)...)
	}
	h.mustFail(t, 5, []string{"--module shop: shop/production/queue exists, and is an instance of acme/queue"}, "deploy", "shop/production/queue", "--create", "--module", "shop")
	h.must(t, "preview", "shop/production/queue", "--create", "--module", "acme/queue")
	o := h.run(t, "preview", "shop/production/queue", "--unset", "/tags")
	if o.code != 0 || !strings.Contains(o.stderr, "warning: --unset /tags: nothing was given there") || strings.Contains(o.stdout+o.stderr, "withoutInputs") {
		t.Errorf("%+v", o)
	}
	h.mustFail(t, 1, []string{"want at most 1048576 bytes, found more"}, "preview", "shop/production/queue", "--values", write(t, "large.yaml", strings.Repeat("#", 2<<20)))
}

// Secrets of pipelines often end with a line end, as the files do that they were pasted from.
func TestTokenOfAVariableMayEndWithALineEnd(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	newHome(t).at(s.URL, s.Acme.Tokens[actor.Developer]+"\r\n").must(t, "whoami")
	newHome(t).at(s.URL, "slp_a\nb").mustFail(t, 2, []string{"SLIPWAY_TOKEN: want a token"}, "whoami")
	newHome(t).at(s.URL, " ").mustFail(t, 2, []string{"SLIPWAY_TOKEN: want a token such as slp_runner_…, found nothing"}, "whoami")
}

// A server that answers nothing at all, and no error, is none of ours.
func TestAnswerThatIsNull(t *testing.T) {
	t.Parallel()
	server := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"data":null}`)
	})
	h := newHome(t).at(server.URL, "slp_x")
	for _, line := range []string{
		"whoami", "projects list", "projects show a", "projects create a --name A", "environments show a/b", "instances show a/b/c", "outputs a/b/c@live", "modules show x", "modules versions x",
		"deployments show dep_01m8b6bzzne339ph455pj4ad6n", "deploy a/b/c", "preview a/b/c", "rollback a/b/c", "redeploy a/b/c@last", "cancel a/b/c@last", "watch a/b/c", "logs a/b/c",
		"compare dep_01m8b6bzzne339ph455pj4ad6n dep_01m8b6bzzne339ph455pj4ad6n", "values x", "quarantine a/b/c@live --reason x", "destroy a/b/c",
	} {
		h.mustFail(t, 1, []string{"which Slipway does not send"}, strings.Fields(line)...)
	}
}
