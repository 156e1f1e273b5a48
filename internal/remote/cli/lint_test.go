package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slipway/internal/base/strictjson"
)

func TestModuleIsInitializedOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t) // without a server
	folder := filepath.Join(t.TempDir(), "order-queue")
	file, schema := filepath.Join(folder, "slipway-module.yaml"), filepath.Join(folder, ".slipway", "module.schema.json")
	if got := h.must(t, "modules", "init", "--dir", folder, "-o", "name"); got != file+"\n"+schema+"\n" {
		t.Errorf("wrote %s", got)
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), "\ntype: order-queue\nname: Order queue\n") || !strings.Contains(string(text), "\ndeploymentType: terraform\n") {
		t.Errorf("%v, %s", err, text)
	}
	h.must(t, "modules", "lint", file)
	for _, there := range []string{file, schema} {
		h.mustFail(t, 5, []string{there + " already exists; nothing was written"}, "modules", "init", "acme/queue", "--dir", folder)
		if err := os.Remove(there); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		args []string
		says string
	}{
		{[]string{"a//b"}, "TYPE: must be letters, digits"}, {[]string{"a", "--name", strings.Repeat("x", 201)}, "--name: must have at most 200 characters, found 201"},
		{[]string{"a", "--deployment-type", "tofu"}, "--deployment-type: must be one of aws:ecs, terraform, found \"tofu\""}, {[]string{"a", "b"}, `want [TYPE], found "a", "b"`},
	} {
		h.mustFail(t, 2, []string{test.says}, append(append([]string{"modules", "init"}, test.args...), "--dir", folder)...)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 || entries[0].Name() != ".slipway" {
		t.Errorf("%v, %v", entries, err)
	}
	// What is in the way of the second file leaves none behind.
	if err := os.Remove(filepath.Join(folder, ".slipway")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, ".slipway"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h.mustFail(t, 1, []string{".slipway"}, "modules", "init", "a", "--dir", folder)
	if _, err := os.Lstat(file); err == nil {
		t.Error("the manifest was left behind")
	}
	h.must(t, "modules", "init", "acme/queue", "--name", "A queue", "--deployment-type", "aws:ecs", "--dir", filepath.Join(folder, "more", "folders"))
}

func TestLintNeedsNoServer(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	o := h.typing(jobs).run(t, "modules", "lint", "-")
	if o != (outcome{0, "", "<stdin>: nothing is wrong\n"}) {
		t.Errorf("%+v", o)
	}
	o = h.typing(strings.Replace(jobs, "max: 43200", "max: -1", 1)).run(t, "modules", "lint", "-", "--version", "one")
	want := "--version: /version must be a semantic version such as 1.4.0 or 2.0.0-rc.1, found \"one\" (format)\n" +
		"<stdin>:9:60: /inputs/1/min must not be more than max, found 0, and -1 at /inputs/1/max (min_max)\n" +
		"<stdin>:9:81: /inputs/1/default must be at most -1, found 30 (max)\n"
	if o.code != 3 || o.stdout != want || o.stderr != "found 3 errors\n" {
		t.Errorf("%+v", o)
	}
	o = h.typing("slipway: module/v1\nslipway: x").run(t, "modules", "lint", "-", "-o", "name")
	if o.code != 3 || o.stdout != "<stdin>:2:1\n" {
		t.Errorf("%+v", o)
	}
	o = h.typing(strings.Replace(jobs, "name: Jobs", "name: \"\\e[31m\\u202e\"\n\"\\e[32m\\u202e\": 1", 1)).run(t, "modules", "lint", "-")
	if o.code != 3 || strings.ContainsAny(o.stdout, "\x1b\u202e") {
		t.Errorf("%+v", o)
	}
	h.typing(strings.Repeat("#", 1<<20+1)).mustFail(t, 1, []string{"want at most 1048576 bytes, found more"}, "modules", "lint", "-")
	h.typing(jobs).mustFail(t, 4, []string{"want a context"}, "modules", "lint", "-", "--remote")
	h.typing(jobs).mustFail(t, 2, []string{`--against-live: want`}, "modules", "lint", "-", "--against-live=-1")
	h.typing(jobs).mustFail(t, 2, []string{"--fields: want some of file, line"}, "modules", "lint", "-", "--fields", "nothing")
}

func TestWarningsAloneAreNoFailure(t *testing.T) {
	t.Parallel()
	text := strings.Replace(jobs, "required: true}", `patterns: [{pattern: '\-', message: x}]}`, 1)
	o := newHome(t).with(map[string]string{"GITHUB_ACTIONS": "true"}).typing(text).run(t, "modules", "lint", "-", "-o", "json")
	found := strictjson.MustParse(o.stdout).Items
	if o.code != 0 || len(found) != 1 || found[0].GetText("severity") != "warning" || !strings.HasPrefix(o.stderr, "::warning file=<stdin>,line=8,col=") || !strings.HasSuffix(o.stderr, "found 1 warning\n") {
		t.Errorf("%+v", o)
	}
}

func TestServerJudgesTheManifest(t *testing.T) {
	t.Parallel()
	w, h := newWorld(t)
	w.Fixture(t, w.Acme, "shop")
	text := strings.Replace(jobs, "outputs:", `  - {id: zone, label: Zone, type: string, values: {source: nowhere}}
  - {id: net, label: Net, type: '$ref:acme/net'}
  - {id: shop, label: Shop, type: '$ref:shop'}
  - {id: next, label: Next, type: '$ref:acme/jobs'}
  - {id: low, label: Low, type: number, min: 2, max: 1}
outputs:`, 1)
	file := write(t, "m.yaml", text)
	before := w.Rows(t)
	o := h.run(t, "modules", "lint", file, "--remote")
	for _, want := range []string{":14:", "/inputs/6/min must not be", ":10:", "/inputs/2/values/source", ":11:33: warning: /inputs/3/type names the module type acme/net"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("%q is not in %s", want, o.stdout)
		}
	}
	if o.code != 3 || strings.Count(o.stdout, "\n") != 3 || o.stderr != "found 2 errors and 1 warning\n" {
		t.Errorf("%+v", o)
	}
	if after := w.Rows(t); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("from %v to %v", before, after)
	}
	h.must(t, "modules", "lint", write(t, "m.yaml", jobs), "--remote", "--against-live")
	h.must(t, "modules", "lint", write(t, "m.yaml", jobs[:strings.Index(jobs, "inputs:")]+"inputs: []\n"), "--remote", "--against-live")
}

func TestLiveInputsAreJudgedByTheNewOnes(t *testing.T) {
	t.Parallel()
	w, h := newWorld(t)
	f := w.Fixture(t, w.Acme, "shop")
	f.Finish(t, f.Deploy(t, f.Instance.ID, `{"image":"web:1","replicas":3}`), nil)
	f.Finish(t, f.Deploy(t, f.NewInstance(t, "api").ID, `{"image":"app:1","replicas":2}`), nil)
	f.Finish(t, f.Deploy(t, f.NewInstance(t, "old").ID, `{"image":"old:1"}`), nil)
	f.NewInstance(t, "new")
	// The newest first: old, whose replicas are the default, api, web. That replicas has a maximum of 2 refuses web alone.
	o := h.run(t, "modules", "lint", "testdata/files/other.yaml", "--against-live")
	if o.code != 3 || strings.Count(o.stdout, "\n") != 3 || !strings.Contains(o.stdout, "shop/production/web: /replicas must be at most 2, found 3 (max)\n") ||
		!strings.Contains(o.stdout, "shop/production/old: /image ") || !strings.Contains(o.stderr, "checked the live inputs of 3 instances: the next deployment of 2 would be refused\n") {
		t.Errorf("%+v", o)
	}
	o = h.run(t, "modules", "lint", "testdata/files/other.yaml", "--against-live=1", "-o", "json")
	found := strictjson.MustParse(o.stdout).Items
	if o.code != 3 || len(found) != 1 || found[0].GetText("instance") != "shop/production/old" || found[0].Get("file").Kind != strictjson.Null || !strings.Contains(o.stderr, "checked the live inputs of 1 instance: the next deployment of 1 would be refused; there are more\n") {
		t.Errorf("%+v", o)
	}
	o = h.run(t, "modules", "lint", "testdata/files/other.yaml", "--against-live=3")
	if strings.Contains(o.stderr, "more") {
		t.Errorf("%+v", o)
	}
	// An input that there is none any more is not taken over, and so refuses nothing.
	fewer := write(t, "m.yaml", "slipway: module/v1\ntype: shop\nname: shop\nversion: 2.0.0\ndeploymentType: aws:ecs\ninputs:\n  - {id: image, label: Image, type: string}\n")
	if o := h.run(t, "modules", "lint", fewer, "--against-live"); o.code != 0 || o.stdout != "" {
		t.Errorf("%+v", o)
	}
	h.must(t, "modules", "lint", write(t, "m.yaml", strings.Split(jobs, "inputs:")[0]+"inputs: []\n"), "--against-live")
	h.must(t, "modules", "lint", write(t, "m.yaml", strings.Replace(strings.Split(jobs, "inputs:")[0], "acme/jobs\n", "shop\n", 1)+"inputs: []\n"), "--against-live")
	// What is filled in depends on the instance.
	place := strings.Split(jobs, "outputs:")[0] + "  - {id: place, label: Place, type: string, default: '${{ environment.slug }}', patterns: [{pattern: '^staging', message: x}]}\n"
	place = strings.NewReplacer("acme/jobs\n", "shop\n", ", required: true", "").Replace(place)
	if o := h.run(t, "modules", "lint", write(t, "m.yaml", place), "--against-live=1"); o.code != 3 || !strings.HasPrefix(o.stdout, `shop/production/old: /place must match "^staging"`) {
		t.Errorf("%+v", o)
	}
	o = h.run(t, "modules", "lint", write(t, "m.yaml", strings.Replace(jobs, "acme/jobs\n", "acme/none\n", 1)), "--against-live")
	if o.code != 0 || !strings.Contains(o.stderr, "nothing is live: there is no module of the type acme/none yet\n") {
		t.Errorf("%+v", o)
	}
}
