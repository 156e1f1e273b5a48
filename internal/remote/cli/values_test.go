package cli_test

import (
	"io"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/strictjson"
	"slipway/internal/remote/cli/document"
	"slipway/internal/remote/cli/manifest"
	"slipway/internal/test/worldtest"
)

func TestValuesFileOfAnInstanceIsWhatWasGiven(t *testing.T) {
	t.Parallel()
	w, h := newWorld(t)
	f := w.Fixture(t, w.Acme, "shop")
	h.mustFail(t, 5, []string{"nothing is live at shop/production/web"}, "values", "--instance", "shop/production/web")
	f.Finish(t, f.Deploy(t, f.Instance.ID, `{"image":"web:1"}`), nil)
	o := h.run(t, "values", "--instance", "shop/production/web")
	if o.code != 0 || o.stderr != "" || !strings.Contains(o.stdout, "\nimage: web:1\n") && !strings.Contains(o.stdout, "image: \"web:1\"\n") || !strings.Contains(o.stdout, "\n# replicas: 2\n") {
		t.Errorf("%+v", o)
	}
	file := write(t, "prod.yaml", o.stdout)
	h.must(t, "validate", file, "--instance", "shop/production/web")
	if got := h.must(t, "values", "--instance", f.Instance.ID, "-o", "json"); got != "{\n  \"image\": \"web:1\"\n}\n" {
		t.Errorf("values are %s", got)
	}
	if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), `UPDATE deployments SET given_from = NULL`); err != nil {
		t.Fatal(err)
	}
	o = h.run(t, "values", "--instance", "shop/production/web", "-o", "json")
	if o.code != 0 || o.stdout != "{\n  \"image\": \"web:1\",\n  \"replicas\": 2\n}\n" || !strings.Contains(o.stderr, "the given values were not recorded: these are the values of the live release") {
		t.Errorf("%+v", o)
	}
	h.mustFail(t, 2, []string{"want a module or --instance, found neither"}, "values")
	h.mustFail(t, 2, []string{"want a module or --instance, found both"}, "values", "shop", "--instance", "shop/production/web")
}

func TestValuesOfOtherInstancesAreLeftOut(t *testing.T) {
	t.Parallel()
	w, h := newWorld(t)
	net, shop := w.Fixture(t, w.Acme, "net"), w.Fixture(t, w.Acme, "shop")
	net.Finish(t, net.Deploy(t, net.Instance.ID, `{"image":"web:1"}`), nil)
	h.must(t, "modules", "publish", write(t, "m.yaml", "slipway: module/v1\ntype: shop\nname: shop\nversion: 2.0.0\ndeploymentType: aws:ecs\nsource: {ref: main}\ninputs:\n"+
		"  - {id: nets, label: Nets, type: object_array, item_inputs: [{id: net, label: Net, type: '$ref:net', mapped_inputs: [{id: of_net, label: Image, type: string, default: '${{ ref.input.image }}'}]}]}\n"))
	shop.Version.ID = strictjson.MustParse(h.must(t, "modules", "show", "shop@2.0.0", "-o", "json")).GetText("id")
	shop.Finish(t, shop.Deploy(t, shop.Instance.ID, `{"nets":[{"net":"`+net.Instance.ID+`"}]}`), nil)
	if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), `UPDATE deployments SET given_from = NULL`); err != nil {
		t.Fatal(err)
	}
	got := strictjson.MustParse(h.must(t, "values", "--instance", "shop/production/web", "-o", "json"))
	if want := `{"nets":[{"net":"` + net.Instance.ID + `"}]}`; string(got.JSON()) != want {
		t.Errorf("values are %s, want %s", got.JSON(), want)
	}
	if got := h.must(t, "api", `{ moduleInstance(path: "shop/production/web") { liveDeployment { release { inputs } } } }`); !strings.Contains(got, `"of_net":"web:1"`) {
		t.Errorf("the release has %s", got)
	}
}

func TestValuesFileDoesNothingToATerminal(t *testing.T) {
	t.Parallel()
	w, h := newWorld(t)
	f := w.Fixture(t, w.Acme, "shop")
	const image = "web\u202e\u009b31m: 1"
	f.Finish(t, f.Deploy(t, f.Instance.ID, string((&strictjson.Node{Kind: strictjson.Object, Keys: []string{"image"}, Items: []*strictjson.Node{{Kind: strictjson.String, Text: image}}}).JSON())), nil)
	p := openTerminal(t, 80)
	code := h.execute(t.Context(), p.command, io.Discard, "values", "--instance", "shop/production/web")
	if shown := p.all(); code != 0 || strings.ContainsAny(shown, "\u202e\u009b") || !strings.Contains(shown, "# Image: a text, required\nimage: ") {
		t.Errorf("exit code %d, %q", code, shown)
	}
	d, err := document.Read("v.yaml", []byte(h.must(t, "values", "--instance", "shop/production/web")))
	if err != nil || d.Root.GetText("image") != image {
		t.Errorf("%v, %s", err, d.JSON())
	}
}

func TestValuesAreJudgedWithTheirReferences(t *testing.T) {
	t.Parallel()
	w, h := newWorld(t)
	f := w.Fixture(t, w.Acme, "net")
	f.Finish(t, f.Deploy(t, f.Instance.ID, `{"image":"web:1"}`), nil)
	h.must(t, "modules", "publish", write(t, "m.yaml", strings.Replace(jobs, "outputs:", "  - {id: place, label: Place, type: string, default: '${{ environment.slug }}'}\n  - {id: net, label: Net, type: '$ref:net', required: true}\n  - {id: nets, label: Nets, type: object_array, item_inputs: [{id: net, label: Net, type: '$ref:net'}]}\noutputs:", 1)))
	h.must(t, "instances", "create", "net/production/jobs", "--module", "acme/jobs")
	file := func(net, more string) string {
		return write(t, "v.yaml", "queue_name: a\nnet: "+net+"\nnets:\n  - {net: "+more+"}\n")
	}
	for _, net := range []string{"./web", "../production/web", "net/production/web", f.Instance.ID} {
		o := h.run(t, "validate", file(net, net), "--instance", "net/production/jobs")
		if o.code != 0 || o.stdout != "" || !strings.HasSuffix(o.stderr, "fits acme/jobs 1.0.0\n") {
			t.Errorf("%s: %+v", net, o)
		}
	}
	h.must(t, "validate", file("net/production/web", "null"), "--module", "acme/jobs@1.0.0")
	if o := h.run(t, "validate", write(t, "v.yaml", "queue_name: a\nnet: net/production/web\n"), "--module", "acme/jobs"); o.code != 0 ||
		!strings.Contains(o.stderr, "not checked, because their templates need an instance: /place\n") {
		t.Errorf("%+v", o)
	}
	h.must(t, "modules", "deprecate", "acme/jobs@1.0.0", "--reason", "Loses jobs.")
	o := h.run(t, "validate", write(t, "v.yaml", "queue_name: a\nnet: ./web\n"), "--instance", "net/production/jobs")
	if o.code != 0 || o.stdout != "acme/jobs@1.0.0: warning: /moduleVersionId the version 1.0.0 is deprecated: Loses jobs. (version_deprecated)\n" || strings.Contains(o.stderr, "not judged") {
		t.Errorf("%+v", o)
	}
	h.must(t, "modules", "reinstate", "acme/jobs@1.0.0")
	for _, test := range []struct{ net, more, flag, of, want string }{
		{"./none", "./web", "--instance", "net/production/jobs", ":2:6: /net must be the path or the id of an instance, found \"net/production/none\", which there is not (reference)\n"},
		{"./web", "./none", "--instance", "net/production/jobs", ":4:11: /nets/0/net must be the path or the id of an instance, found \"net/production/none\", which there is not (reference)\n"},
		{"./web", "a/b", "--instance", "net/production/jobs", ":4:11: /nets/0/net must be the id of an instance, or a path"},
		{"./web", "net/production/web", "--module", "acme/jobs", `:2:6: /net must be the id of an instance, or a whole path such as shop/prod/network, because there is no environment that it could start in, found "./web" (path)` + "\n"},
	} {
		name := file(test.net, test.more)
		o := h.run(t, "validate", name, test.flag, test.of)
		if o.code != 3 || !strings.HasPrefix(o.stdout, name+test.want) || strings.Count(o.stdout, "\n") != 1 {
			t.Errorf("%+v: %+v", test, o)
		}
	}
	o = h.run(t, "validate", write(t, "v.yaml", "net: ./web\nhidden_for: 90000\nnest: 1\n"), "--instance", "net/production/jobs", "-o", "tsv", "--fields", "line,column,pointer,rule")
	if o.code != 3 || o.stdout != "2\t13\t/hidden_for\tmax\n3\t1\t/nest\tunknown_input\n1\t1\t/queue_name\trequired\n" && strings.Count(o.stdout, "\n") != 3 {
		t.Errorf("%+v", o)
	}
}

func TestValidateTellsFilesApart(t *testing.T) {
	t.Parallel()
	h := newHome(t) // a manifest needs no server
	h.must(t, "validate", write(t, "m.yaml", jobs))
	o := h.typing(strings.Replace(jobs, "terraform", "tofu", 1)).run(t, "validate", "-")
	if o.code != 3 || !strings.HasPrefix(o.stdout, "<stdin>:5:17: /deploymentType must be one of") {
		t.Errorf("%+v", o)
	}
	file := write(t, "v.yaml", "a: 1\n")
	h.mustFail(t, 2, []string{"want --module or --instance for a file of values, found neither"}, "validate", file)
	h.mustFail(t, 2, []string{"want --module or --instance for a file of values, found both"}, "validate", file, "--module", "a", "--instance", "b")
	if o := h.run(t, "validate", write(t, "v.yaml", "a: 1\na: 2\n"), "--module", "a"); o.code != 3 || !strings.Contains(o.stdout, `v.yaml:2:1: has the key "a" twice`) {
		t.Errorf("%+v", o)
	}
}

func TestSchemasAreWrittenAsTheyAre(t *testing.T) {
	t.Parallel()
	if got := newHome(t).must(t, "schema", "module"); got != string(manifest.Schema()) {
		t.Error("the schema of manifests is another one")
	}
	w := worldtest.New(t, worldtest.SQLite(t))
	w.Fixture(t, w.Acme, "shop")
	h := newHome(t).at(w.URL, w.Acme.Tokens[actor.Viewer])
	if got := strictjson.MustParse(h.must(t, "schema", "values", "shop@1.4.0")); got.Get("properties").Get("replicas") == nil || got.Get("required").Items[0].Text != "image" {
		t.Errorf("the schema is %s", got.JSON())
	}
}
