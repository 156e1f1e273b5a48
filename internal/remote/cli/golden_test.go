package cli_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"slipway/ent/moduledefinition"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/event"
	"slipway/internal/pure/module"
	"slipway/internal/pure/runlog"
	"slipway/internal/remote/cli"
	"slipway/internal/server"
	"slipway/internal/service/catalog"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/state"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a text with a file, or writes that.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: %s", path, diff)
	}
}

// names gives ids and what else differs from run to run names that stay.
type names map[string]string

var changing = regexp.MustCompile(`\b(?:org|prj|env|mod|mver|inst|rel|dep|tok|qua|rule|apr|aud)_[0-9a-z]{26}|req_[0-9A-Z]{26}|slp_[a-z]+_[0-9A-Za-z]{4,}|sha256:[0-9a-f]{64}|http://127\.0\.0\.1:\d+|/[^ ]*/config\.yaml`)

func (n names) of(text string) string {
	return changing.ReplaceAllStringFunc(text, func(found string) string {
		switch {
		case strings.HasPrefix(found, "http"):
			return "http://127.0.0.1:" + "54321"[:len(found)-len("http://127.0.0.1:")]
		case strings.HasPrefix(found, "/"):
			return "/home/mira/.config/slipway/config.yaml"
		case n[found] == "":
			kind, digits, _ := strings.Cut(found, map[bool]string{true: ":", false: "_"}[strings.HasPrefix(found, "sha256")])
			n[found] = fmt.Sprintf("%s%c%0*d", kind, found[len(kind)], len(digits), len(n)+1)
		}
		return n[found]
	})
}

// stock is a world in which the same things have happened at the same times whenever a test runs.
type stock struct {
	*worldtest.World
	*worldtest.Fixture
	clock *testkit.Clock
	first string // the first deployment
	last  string // the last one, whose program has printed something
}

func newStock(t *testing.T) *stock {
	t.Helper()
	clock := testkit.NewClock(time.Date(2026, 3, 1, 9, 30, 0, 125e6, time.UTC))
	w := worldtest.New(t, worldtest.SQLite(t)).Serving(t, func(c *server.Config) { c.Now = clock.Now })
	s := &stock{World: w, clock: clock}
	s.Fixture = w.Fixture(t, w.Acme, "shop")
	clock.Advance(time.Hour)
	s.first = s.Finish(t, s.Deploy(t, s.Instance.ID, `{"image":"web:1.4.1"}`), nil).ID
	clock.Advance(time.Hour)
	s.Finish(t, s.Deploy(t, s.Instance.ID, `{"image":"web:1.4.2","replicas":3}`), nil)
	clock.Advance(time.Hour)
	broken := s.Deploy(t, s.Instance.ID, `{"image":"web:broken"}`)
	lease := s.Claim(t, broken)
	at := clock.Now()
	step, steps, message := int32(1), int32(2), "Pulling the \u202eimage\u202c."
	_, _, err := w.Deploy.Execution.Report(w.Acme.As(actor.Runner), broken.ID, lease, execution.Report{
		Events: []event.Event{{CurrentStep: &step, TotalSteps: &steps, Message: &message}},
		Logs: []runlog.Line{
			{At: &at, Stream: runlog.Stdout, Text: "pulling"}, {At: &at, Stream: runlog.Stderr, Text: "\x1b[31mred\x1b[0m\x1b[2J\tand a tab"}, {At: &at, Stream: runlog.Stdout, Text: "done"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	failure := &fault.Data{
		Code: string(fault.DeploymentFailed), Message: "It says \x1b[31mred\x1b[0m and \u202edeer\u202c.", Description: "line 1\nline 2\t\u0007",
	}
	if _, err := w.Deploy.Execution.End(w.Acme.As(actor.Runner), broken.ID, lease, execution.Completion{Failure: failure}); err != nil {
		t.Fatal(err)
	}
	s.last = broken.ID
	clock.Advance(time.Hour)
	description := "A queue\nof orders."
	_, _, err = w.Catalog.CreateDefinition(w.Acme.As(actor.Admin), catalog.NewDefinition{
		Name: "注文の待ち行列 🚚", Type: "acme/queue", Description: &description, Status: moduledefinition.StatusACTIVE,
	})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = w.Catalog.PublishVersion(w.Acme.As(actor.Admin), module.NewVersion{
		DefinitionID: s.Definition.ID, Version: "1.5.0-rc.1", Kind: module.DeploymentTypeECS, Inputs: strictjson.MustParse(worldtest.Inputs),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// asks has a runner ask for work, and get none.
func (s *stock) asks(t *testing.T, actions ...state.Action) {
	t.Helper()
	s.World.Deploy.Runners.Note(actor.From(s.Acme.As(actor.Runner)), module.DeploymentTypes, actions)
	s.World.Deploy.Runners.StoreAsks(t.Context())
}

func (s *stock) home(t *testing.T, token string) *home {
	t.Helper()
	h := newHome(t).at(s.URL, token).with(map[string]string{"LOGGED": s.last})
	h.config.Now = s.clock.Now
	return h
}

// goldens are the commands that have a golden file, by its name. An N stands for the number of the format, so that each of
// them changes something else.
var goldens = []struct {
	file     string
	commands []string
}{
	{"whoami", []string{"whoami"}},
	{"projects", []string{"projects create shop-N --name Shop-N", "projects create shop-N --name Shop-N", "projects create shop-N --name Other --if-missing",
		"projects list", "projects list --search shop- --limit 1", "projects list --fields slug,id", "projects show shop-N", "projects rename shop-N --name New --slug new-N",
		"projects archive new-N", "projects list --archived", "projects unarchive new-N", "projects delete new-N --yes"}},
	{"environments", []string{"environments create shop/prod-N", "environments list --in shop", "environments show shop/prod-N", "environments rename shop/prod-N --slug new-N",
		"environments archive shop/new-N", "environments unarchive shop/new-N", "environments delete shop/new-N --yes"}},
	{"instances", []string{"instances create shop/production/orders-N --module acme/queue", "instances list", "instances list --in shop/production --fields name,liveDeployment.release.moduleVersion.version",
		"instances show shop/production/web", "instances update shop/production/orders-N --on-failure ROLL_BACK --own-inputs replicas,artifact", "instances rename shop/production/orders-N --name new-N", "instances archive shop/production/new-N",
		"instances unarchive shop/production/new-N", "instances delete shop/production/new-N --yes"}},
	{"modules", []string{"modules list", "modules show acme/queue", "modules show shop@1.4.0", "modules versions shop",
		"modules deprecate shop@1.5.0-rc.1 --reason Unfinished. --successor shop@latest", "modules versions shop", "modules undeprecate shop@1.5.0-rc.1"}},
	{"deployments", []string{"deployments list", "deployments list --status FAILED --in shop/production", "deployments list --status FAILED --status CANCELED",
		"deployments list --operation ROLLBACK --operation DESTROY", "deployments list --module shop@1.4.0 --operation CREATE --fields id", "deployments list --module shop --search BEFORE --pipeline-run 7", "deployments list --in shop/production/web --limit 1",
		"deployments show shop/production/web@live", "deployments show shop/production/web@last", "deployments show shop/production/web@previous --fields id,status"}},
	{"outputs", []string{"outputs shop/production/web", "outputs shop/production/web@live"}},
	{"compare", []string{"compare shop/production/web@previous shop/production/web@live --exit-code", "compare shop/production/web@live shop/production/web@live --exit-code",
		"compare shop/production/web@previous shop/production/web@live --fields sameRelease,inputs"}},
	{"quarantine", []string{"quarantine shop/production/web@last --reason Bad-N --until 2027-01-01T00:00:00Z", "quarantine shop/production/web@last --reason Bad-N --until 2027-01-01T00:00:00Z",
		"unquarantine shop/production/web@last", "unquarantine shop/production/web@last"}},
	{"api", []string{"api {viewer{role}}", "api GET /module-definitions?limit=5"}},
	{"deploy", []string{"preview shop/production/web --set replicas=4", "preview shop/production/web", "preview shop/production/web --set replicas=many --fields instance", "preview shop/production/new --create --module shop --set image=web:1",
		"deploy shop/production/web --set image=web:new-N --set replicas=4 --wait=false --reason More", "cancel shop/production/web@last",
		"rollback shop/production/web --wait=false", "cancel shop/production/web@last", "redeploy shop/production/web@live --wait=false", "cancel shop/production/web@last",
		"watch shop/production/web", "logs shop/production/web --timestamps", "logs LOGGED --tail 2", "logs LOGGED --stderr", "watch LOGGED --logs=false"}},
	{"rules", []string{"rules create --name Frozen-N --freeze 2027-12-20T00:00:00Z/ --overridable=false --operations create,rollback", "rules create --name Tested-N --project shop --live-in shop/production --minutes 60",
		"rules create --name Open-N --project shop --hours Europe/Berlin_mon-fri,sun_09:00-17:00", "rules list", "rules update Open-N --name Eyes-N --approvals 2 --role admin --by ann,bob",
		"rules list --fields name,demands", "rules end Frozen-N --yes", "rules end Tested-N --yes", "rules end Eyes-N --yes", "rules end Eyes-N --yes"}},
	{"approve", []string{"promote shop/production/web@live shop/production/web --dry-run", "approve shop/production/web@last", "reject shop/production/web@last", "start shop/production/web@last",
		"rules create --name Eyes-N --environment shop/production --approvals 1 --role admin", "preview shop/production/web --set image=web:eyes-N", "deploy shop/production/web --set image=web:eyes-N --reason Eyes", "approve shop/production/web@last",
		"start shop/production/web@last", "deployments show shop/production/web@last", "start shop/production/web@last --override-reason Urgent-matter-N --yes", "cancel shop/production/web@last", "rules end Eyes-N --yes", "approvals"}},
	{"destroy", []string{"destroy shop/production/web --reason Done --wait=false --yes", "cancel shop/production/web@last --reason Oh"}},
	{"context", []string{"login --server URL --context c-N --with-token", "context list", "context use c-N", "logout --context c-N", "context delete c-N"}},
	{"refused", []string{"projects show nothing", "environments show shop/nothing", "instances show shop/nothing/web", "modules show nothing", "modules show shop@9.9.9", "deployments show dep_01kb0000000000000000000000",
		"projects create shop --name Other", "projects delete shop --yes", "environments archive shop/production", "deployments show shop/production/nothing@live", "api {nothing}",
		"projects show a/b", "environments show shop", "instances show shop/production", "deployments show shop/production/web", "modules show /", "modules deprecate shop --reason x",
		"quarantine shop/production/web --reason x", "instances create shop/production/x", "projects rename shop", "projects list --fields nothing,id"}},
	{"manifests", []string{"modules init acme/jobs-N --dir DIR-N", "modules init acme/jobs-N --dir DIR-N", "modules init / --dir DIR-N", "modules lint testdata/files/queue.yaml",
		"modules lint testdata/files/bad.yaml", "modules lint testdata/files/other.yaml --remote --against-live", "modules lint testdata/files/nothing.yaml",
		"modules publish testdata/files/queue.yaml --version 1.0.0-N", "modules publish testdata/files/queue.yaml --version 1.0.0-N", "modules publish testdata/files/other.yaml",
		"modules publish testdata/files/bad.yaml"}},
	{"values", []string{"values shop", "values shop@1.5.0-rc.1 --fields image", "values --instance shop/production/web", "values shop@9.9.9", "values",
		"schema values shop", "schema values shop --fields title,required", "schema module --fields title",
		"validate testdata/files/good-values.yaml --module shop", "validate testdata/files/bad-values.yaml --instance shop/production/web",
		"validate testdata/files/bad.yaml", "validate testdata/files/bad-values.yaml"}},
	{"runners", []string{"runners list", "runners list --deployment-type aws:ecs --action DESTROY --in shop/production --limit 1", "runners list --deployment-type nothing",
		"runners list --in shop/nothing", "runners list --in shop"}},
	{"audit", []string{"audit --object shop/production/web --by admin", "audit --object shop/production/web --fields action,actor.name --limit 1", "audit --object shop --action createProject", "audit --object shop/production --from 2027-01-01T00:00:00Z",
		"audit --by nobody", "audit --from yesterday"}},
	{"tokens", []string{"tokens create --name ci-N --role DEVELOPER --holder ann --environment shop/production --module shop --expires-in 24h", "tokens create --name file-N --role VIEWER --to DIR-N.token",
		"tokens list --holder ann", "tokens list --role DEVELOPER --search CI-N --fields name,scope.environmentIds", "tokens revoke ci-N --yes", "tokens revoke ci-N --yes", "tokens list --all --holder ann --limit 1"}},
}

var formats = []string{"table", "json", "yaml", "tsv", "name"}

// transcript runs commands and writes down what they printed and how they ended.
func (h *home) transcript(t *testing.T, commands []string, format string, n names) string {
	t.Helper()
	var b strings.Builder
	for _, command := range commands {
		args := strings.Fields(command)
		if args[0] == "api" {
			args = append([]string{"api"}, strings.Replace(command, "api ", "", 1))
			if rest, ok := strings.CutPrefix(args[1], "GET "); ok {
				args = []string{"api", "GET", rest}
			}
		}
		for i := range args {
			args[i] = strings.NewReplacer("URL", h.variables["SLIPWAY_SERVER"], "LOGGED", h.variables["LOGGED"], "DIR", h.variables["DIR"], "Berlin_", "Berlin ", "sun_", "sun ").Replace(args[i])
		}
		o := h.typing(h.variables["SLIPWAY_TOKEN"]).run(t, append(args, "-o", format)...)
		if strings.Contains(o.stdout+o.stderr, h.variables["SLIPWAY_TOKEN"]) {
			t.Errorf("slipway %s -o %s shows the token", command, format)
		}
		fmt.Fprintf(&b, "$ slipway %s -o %s\n%s", command, format, o.stdout)
		for line := range strings.Lines(o.stderr) {
			b.WriteString("2> " + line)
		}
		fmt.Fprintf(&b, "exit %d\n\n", o.code)
	}
	return n.of(strings.ReplaceAll(b.String(), h.variables["HOME"], "HOME"))
}

func TestEachCommandInEachFormat(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	h := s.home(t, s.Acme.Tokens[actor.Admin])
	h.variables["DIR"] = filepath.Join(h.variables["HOME"], "module")
	for _, g := range goldens {
		var all strings.Builder
		n := names{}
		for i, format := range formats {
			s.asks(t, state.Apply, state.DestroyAction)
			commands := make([]string, len(g.commands))
			for at, command := range g.commands {
				commands[at] = strings.ReplaceAll(command, "-N", fmt.Sprint("-", i+1))
			}
			all.WriteString(h.transcript(t, commands, format, n))
			s.clock.Advance(time.Minute)
		}
		golden(t, g.file, all.String())
	}
	golden(t, "markdown", h.transcript(t, []string{"compare " + s.first + " shop/production/web@last"}, "markdown", names{}))
}

func TestEachListThatIsEmptyInEachFormat(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	h := s.home(t, s.Globex.Tokens[actor.Viewer])
	var all strings.Builder
	n := names{}
	for _, format := range formats {
		all.WriteString(h.transcript(t, []string{"projects list", "environments list", "instances list", "modules list", "deployments list", "rules list", "context list", "runners list", "approvals"}, format, n))
	}
	golden(t, "empty", all.String())
}

func TestEachChangeThatIsNotAllowed(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	h := s.home(t, s.Acme.Tokens[actor.Viewer])
	for _, command := range []string{
		"projects create x", "projects rename shop --name x", "projects archive shop", "projects delete shop --yes",
		"environments create shop/x", "environments rename shop/production --name x", "environments archive shop/production", "environments delete shop/production --yes",
		"instances create shop/production/x --module shop", "instances rename shop/production/web --name x", "instances archive shop/production/web",
		"modules deprecate shop@1.4.0 --reason x", "modules undeprecate shop@1.4.0", "quarantine shop/production/web@live --reason x",
		"rules create --name x --approvals 1", "instances update shop/production/web --on-failure NOTHING", "tokens create --name x --role VIEWER",
		"destroy shop/production/web --yes", "approve " + s.last, "reject shop/production/web@last", "start shop/production/web@last",
	} {
		h.mustFail(t, 4, []string{"FORBIDDEN", ", acme, as viewer (VIEWER)\n"}, strings.Fields(command)...)
		o := h.mustFail(t, 4, nil, append(strings.Fields(command), "-o", "json")...)
		lines := strings.Split(strings.TrimSpace(o.stderr), "\n")
		if last := lines[len(lines)-1]; strings.Count(last, `:FORBIDDEN","message":"`) != 1 || strictjson.MustParse(last).GetText("requestId") == "" {
			t.Errorf("slipway %s: %s", command, o.stderr)
		}
	}
	for _, token := range []string{"slp_unknown", "slp_viewer_unknown"} {
		s.home(t, token).mustFail(t, 4, []string{"slipway:Request:UNAUTHENTICATED"}, "projects", "list")
	}
}

// leaves returns the commands that do something.
func leaves(c *cobra.Command) (all []string) {
	for _, sub := range c.Commands() {
		if sub.HasSubCommands() {
			all = append(all, leaves(sub)...)
		} else if cli.Is(sub) {
			all = append(all, strings.TrimPrefix(sub.CommandPath(), "slipway "))
		}
	}
	return all
}

func TestEachCommandHasAGoldenFileExamplesAndFormats(t *testing.T) {
	t.Parallel()
	root := newHome(t).root()
	var commands []string
	for _, g := range goldens {
		commands = append(commands, g.commands...)
	}
	all := leaves(root)
	if len(all) < 40 {
		t.Errorf("found only %d commands", len(all))
	}
	for _, path := range all {
		found := false
		for _, command := range commands {
			found = found || command == path || strings.HasPrefix(command, path+" ")
		}
		if !found {
			t.Errorf("slipway %s is in no golden file", path)
		}
		c, _, err := root.Find(strings.Fields(path))
		if err != nil {
			t.Fatal(err)
		}
		for _, flag := range []string{"output", "fields", "color"} {
			if c.Flags().Lookup(flag) == nil {
				t.Errorf("slipway %s has no --%s", path, flag)
			}
		}
		if c.Flags().Lookup("token") != nil {
			t.Errorf("slipway %s has a --token, which every user of the machine could see", path)
		}
		if !strings.Contains(c.Example, "slipway "+path) || c.Short == "" {
			t.Errorf("slipway %s has no example, or says nothing of itself", path)
		}
	}
}
