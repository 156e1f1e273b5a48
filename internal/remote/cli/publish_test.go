package cli_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/test/worldtest"
)

// jobs is a manifest.
const jobs = `slipway: module/v1
type: acme/jobs
name: Jobs
version: 1.0.0
deploymentType: terraform
source: {url: https://git.example.com/acme/jobs, ref: v1.0.0}
inputs:
  - {id: queue_name, label: Name, type: string, required: true}
  - {id: hidden_for, label: Hidden for, type: number, min: 0, max: 43200, default: 30}
outputs:
  - {name: url, description: Where it is.}
`

// newWorld returns a server, and the machine of an admin of acme.
func newWorld(t *testing.T) (*worldtest.World, *home) {
	t.Helper()
	w := worldtest.New(t, worldtest.SQLite(t))
	return w, newHome(t).at(w.URL, w.Acme.Tokens[actor.Admin])
}

func TestPublishedTwiceIsPublishedOnce(t *testing.T) {
	t.Parallel()
	_, h := newWorld(t)
	first := h.run(t, "modules", "publish", write(t, "m.yaml", jobs), "-o", "name")
	if first.code != 0 || first.stdout != "acme/jobs@1.0.0\n" || !strings.Contains(first.stderr, ", acme, as admin (ADMIN)\n  + module acme/jobs, Jobs, ACTIVE\n  + version 1.0.0, terraform, with 2 inputs\n") {
		t.Errorf("%+v", first)
	}
	for name, text := range map[string]string{
		"as it is":     jobs,
		"as JSON does": `{"slipway":"module/v1","outputs":[{"description":"Where it is.","secret":false,"name":"url"}],"type":"acme/jobs","name":"Jobs","version":"1.0.0","deploymentType":"terraform","source":{"ref":"v1.0.0","url":"https://git.example.com/acme/jobs"},"inputs":[{"label":"Name","id":"queue_name","type":"string","required":true},{"id":"hidden_for","label":"Hidden for","type":"number","min":0,"max":43200,"default":30}]}`,
	} {
		again := h.run(t, "modules", "publish", write(t, "m.yaml", text), "-o", "name")
		if again.code != 0 || again.stdout != first.stdout || again.stderr != "acme/jobs 1.0.0 is published already\n" {
			t.Errorf("%s: %+v", name, again)
		}
	}
	if got := h.must(t, "modules", "versions", "acme/jobs", "-o", "name"); got != first.stdout {
		t.Errorf("there are %s", got)
	}
}

func TestOtherContentOfAVersionIsRefusedAndShown(t *testing.T) {
	t.Parallel()
	_, h := newWorld(t)
	h.must(t, "modules", "publish", write(t, "m.yaml", jobs))
	for change, want := range map[[2]string]string{
		{"max: 43200", "max: 900"}:                                        "~ /inputs/1/max  43200 -> 900",
		{"ref: v1.0.0", "ref: v1.0.1"}:                                    `~ /sourceRef  "v1.0.0" -> "v1.0.1"`,
		{"terraform", "aws:ecs"}:                                          `~ /deploymentType  "terraform" -> "aws:ecs"`,
		{"Where it is.", "Where."}:                                        `~ /outputs/0/description  "Where it is." -> "Where."`,
		{"source: {url: https://git.example.com/acme/jobs,", "source: {"}: `- /sourceUrl  "https://git.example.com/acme/jobs"`,
	} {
		file := write(t, "m.yaml", strings.Replace(jobs, change[0], change[1], 1))
		h.mustFail(t, 5, []string{"acme/jobs 1.0.0 is published already, with other content; publish another version. (slipway:ModuleVersion:VERSION_TAKEN)\n  " + want + "\n"}, "modules", "publish", file)
		o := h.mustFail(t, 5, nil, "modules", "publish", file, "-o", "json")
		if got := strictjson.MustParse(strings.TrimSpace(o.stderr)).Get("details").Items[0].Get("items").Items; len(got) != 1 || got[0].Text != want {
			t.Errorf("%s", o.stderr)
		}
	}
	o := h.run(t, "modules", "publish", write(t, "m.yaml", strings.Replace(jobs, "max: 43200", "max: 900", 1)), "--version", "1.1.0", "-o", "name")
	if o.stdout != "acme/jobs@1.1.0\n" || !strings.Contains(o.stderr, "\n  acme/jobs 1.0.0 -> 1.1.0\n  ~ /inputs/1/max  43200 -> 900\n") {
		t.Errorf("%+v", o)
	}
}

func TestEachVariantIsTheSameWhenItIsPublishedAgain(t *testing.T) {
	t.Parallel()
	w, h := newWorld(t)
	inputs, err := os.ReadFile("../../pure/inputprop/testdata/all_variants.json")
	if err != nil {
		t.Fatal(err)
	}
	file := write(t, "m.json", fmt.Sprintf(`{"slipway":"module/v1","type":"all","name":"All","version":"1.0.0","deploymentType":"terraform","source":{"ref":"main"},"inputs":%s,"outputs":[]}`,
		strings.ReplaceAll(string(inputs), "12345678901234567890", "1.50"))) // a server keeps no number that JavaScript cannot
	if o := h.run(t, "modules", "publish", file); o.code != 0 {
		t.Fatalf("%+v", o)
	}
	if o := h.run(t, "modules", "publish", file); o.code != 0 || o.stderr != "all 1.0.0 is published already\n" {
		t.Errorf("%+v", o)
	}
	// Its values are a file that reads as what it says, and that its schema is for.
	if o := h.run(t, "values", "all"); o.code != 0 || strings.Count(o.stdout, "\n") < 14 {
		t.Errorf("%+v", o)
	}
	newHome(t).at(w.URL, w.Acme.Tokens[actor.Viewer]).must(t, "schema", "values", "all", "-o", "yaml")
}

func TestPublicationWhoseAnswersAreLost(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	var lost, sent atomic.Int32
	s := cutter(t, w, func(body string) bool {
		if strings.Contains(body, "mutation") {
			sent.Add(1)
			return lost.Add(1) <= 2 // that of the module, and that of the version
		}
		return false
	})
	h := newHome(t).at(s.URL, w.Acme.Tokens[actor.Admin])
	h.config.Patience = patience
	if got := h.must(t, "modules", "publish", write(t, "m.yaml", jobs), "-o", "name"); got != "acme/jobs@1.0.0\n" {
		t.Errorf("published %s", got)
	}
	if sent.Load() != 2 {
		t.Errorf("%d writes were sent", sent.Load())
	}
}

func TestTwoPublishAtTheSameTime(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	file := write(t, "m.yaml", jobs)
	other := newHome(t).at(w.URL, w.Acme.Tokens[actor.Admin])
	other.must(t, "modules", "publish", file, "--version", "0.1.0")
	var first atomic.Bool
	proxy := answering(t, func(out http.ResponseWriter, r *http.Request) {
		body := readQuery(t, r)
		if strings.Contains(body, "publishModuleVersion") && first.CompareAndSwap(false, true) {
			other.must(t, "modules", "publish", file) // just before, by somebody else
		}
		r.Body = io.NopCloser(strings.NewReader(body))
		w.Handler().ServeHTTP(out, r)
	})
	o := newHome(t).at(proxy.URL, w.Acme.Tokens[actor.Admin]).run(t, "modules", "publish", file, "-o", "name")
	if o.code != 0 || o.stdout != "acme/jobs@1.0.0\n" || !first.Load() {
		t.Errorf("%+v", o)
	}
}

func TestWhatIsWrongIsSaidBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	s := recording(t)
	h := newHome(t).at(s.url, "slp_secret")
	file := write(t, "m.yaml", strings.NewReplacer("max: 43200", "max: -1", "terraform", "tofu").Replace(jobs))
	h.mustFail(t, 3, []string{
		file + `:5:17: /deploymentType must be one of aws:ecs, terraform, found "tofu" (enum)` + "\n",
		file + ":9:60: /inputs/1/min must not be more than max, found 0, and -1 at /inputs/1/max (min_max)\n",
	}, "modules", "publish", file)
	if s.heard() != "" {
		t.Errorf("sent %s", s.heard())
	}
	o := h.mustFail(t, 3, nil, "modules", "publish", file, "-o", "json")
	found := strictjson.MustParse(strings.TrimSpace(o.stderr)).Get("metadata").Get("violations").Items
	if len(found) == 0 || found[0].GetText("rule") != "enum" || string(found[0].Get("line").JSON()) != "5" || found[0].GetText("file") != file {
		t.Errorf("%s", o.stderr)
	}
	h.with(map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": filepath.Dir(file)}).
		mustFail(t, 3, []string{"::error file=m.yaml,line=5,col=17::/deploymentType must be one of"}, "modules", "publish", file)
	h.mustFail(t, 2, []string{`--organization global: want --global as well`}, "modules", "publish", file, "--organization", "global")
	h.mustFail(t, 2, []string{`--global: want --organization global as well, found none`}, "modules", "publish", file, "--global")
	h.mustFail(t, 2, []string{`--global: want --organization global as well, found "acme"`}, "modules", "publish", file, "--global", "--organization", "acme")
	h.mustFail(t, 1, []string{"nothing.yaml: no such file"}, "modules", "publish", "nothing.yaml")
}

func TestServersViolationsAndWarningsStandWhereTheyWereWritten(t *testing.T) {
	t.Parallel()
	_, h := newWorld(t)
	h = h.with(map[string]string{"GITHUB_ACTIONS": "true"})
	text := jobs + `  - {name: more}
`
	text = strings.Replace(text, "outputs:", `  - {id: zone, label: Zone, type: string, values: {source: nowhere}}
  - {id: net, label: Net, type: '$ref:acme/net'}
outputs:`, 1)
	file := write(t, "m.yaml", text)
	h.mustFail(t, 3, []string{file + ":10:", ": /inputs/2/values/source ", "::error file=" + file + ",line=10"}, "modules", "publish", file)
	file = write(t, "m.yaml", strings.Replace(text, "  - {id: zone, label: Zone, type: string, values: {source: nowhere}}\n", "", 1))
	o := h.run(t, "modules", "publish", file)
	if o.code != 0 || !strings.Contains(o.stderr, file+":10:33: warning: /inputs/2/type names the module type acme/net, which no module that you see has (unknown_module_type)\n") ||
		!strings.Contains(o.stderr, "::warning file="+file+",line=10,col=33::") {
		t.Errorf("%+v", o)
	}
}

func TestModuleIsMadeAsItIsWanted(t *testing.T) {
	t.Parallel()
	w, h := newWorld(t)
	file := write(t, "m.yaml", jobs)
	h.must(t, "modules", "publish", file, "--draft")
	if got := h.must(t, "modules", "show", "acme/jobs", "--fields", "status,name", "-o", "tsv"); got != "DRAFT\tJobs\n" {
		t.Errorf("made %s", got)
	}
	o := h.run(t, "modules", "publish", write(t, "m.yaml", strings.Replace(jobs, "name: Jobs", "name: Work", 1)), "--version", "1.0.1", "--draft")
	if o.code != 0 || !strings.Contains(o.stderr, "to publish a version does not change them") || !strings.Contains(o.stderr, "--draft changes nothing") || !strings.Contains(o.stderr, "nothing differs") {
		t.Errorf("%+v", o)
	}
	super := newHome(t).at(w.URL, w.Superadmin)
	super.must(t, "modules", "publish", file, "--global", "--organization", "global")
	super.must(t, "modules", "publish", file, "--global", "--organization", "global", "--version", "2.0.0")
	if got := super.must(t, "modules", "versions", "acme/jobs", "--organization", "global", "-o", "name"); got != "acme/jobs@2.0.0\nacme/jobs@1.0.0\n" {
		t.Errorf("there are %s", got)
	}
	// An organization's own goes before the global one.
	globex := newHome(t).at(w.URL, w.Globex.Tokens[actor.Admin])
	if o := globex.run(t, "modules", "publish", file, "--version", "3.0.0"); o.code != 0 || !strings.Contains(o.stderr, "\n  + module acme/jobs, Jobs, ACTIVE, which is used instead of the global module of this type\n") {
		t.Errorf("%+v", o)
	}
	if got := globex.must(t, "modules", "versions", "acme/jobs", "-o", "name"); got != "acme/jobs@3.0.0\n" {
		t.Errorf("there are %s", got)
	}
	newHome(t).at(w.URL, w.Acme.Tokens[actor.Viewer]).mustFail(t, 4, []string{string(fault.ModuleDefinitionForbidden)}, "modules", "publish", file, "--version", "9.0.0")
}

func TestPublishAsksOnATerminal(t *testing.T) {
	t.Parallel()
	w, h := newWorld(t)
	file := write(t, "m.yaml", jobs)
	for i, answer := range []string{"n\n", "y\n"} {
		p := openTerminal(t, 80)
		asking := h.with(nil)
		asking.stdin = p.command
		go p.types(t, "[y/N] ", answer)
		code := asking.execute(t.Context(), io.Discard, p.command, "modules", "publish", file)
		want := w.URL + ", acme, as admin (ADMIN)\n  + module acme/jobs, Jobs, ACTIVE\n  + version 1.0.0, terraform, with 2 inputs\nPublish acme/jobs 1.0.0? [y/N] "
		if shown := p.all(); code != 1-i || !strings.Contains(shown, want) {
			t.Errorf("%q: exit code %d, %q", answer, code, shown)
		}
		if o := h.run(t, "modules", "show", "acme/jobs@1.0.0"); (o.code == 0) != (i == 1) {
			t.Errorf("%q: %+v", answer, o)
		}
	}
}

func TestSourceIsGitsWhereTheManifestNamesNone(t *testing.T) {
	t.Parallel()
	_, h := newWorld(t)
	folder := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), "git", append([]string{"-C", folder, "-c", "user.name=A", "-c", "user.email=a@example.com"}, args...)...)
		c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	file := filepath.Join(folder, "slipway-module.yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(jobs, "source: {url: https://git.example.com/acme/jobs, ref: v1.0.0}\n", "", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	h.mustFail(t, 1, []string{"the manifest names no source, and there is no commit of git to take it from"}, "modules", "publish", file)
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "first")
	git("remote", "add", "origin", "https://me:hush@git.example.com/acme/jobs")
	o := h.run(t, "modules", "publish", file, "-o", "json")
	published := strictjson.MustParse(o.stdout)
	if o.code != 0 || published.GetText("sourceUrl") != "https://git.example.com/acme/jobs" || published.GetText("sourceRef") != git("rev-parse", "HEAD") ||
		strings.Contains(o.stderr, "no commit") || strings.Contains(o.stdout+o.stderr, "hush") {
		t.Errorf("%+v", o)
	}
	if err := os.WriteFile(filepath.Join(folder, "new.tf"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("warning: there are changes that are in no commit of git; the version has the source of the commit %s\n", git("rev-parse", "HEAD"))
	if o := h.run(t, "modules", "publish", file, "--version", "1.1.0"); o.code != 0 || !strings.Contains(o.stderr, want) {
		t.Errorf("%+v", o)
	}
}
