package deployment_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/module"
	"slipway/internal/pure/release"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// shop has immutable inputs at every depth. An instance of the module network fills what is mapped.
const shop = `[
	{"id":"name","label":"L","type":"string","immutable":true},
	{"id":"size","label":"L","type":"number"},
	{"id":"a/b~c","label":"L","type":"keyvalue","immutable":true},
	{"id":"stores","label":"L","type":"object_map","item_inputs":[
		{"id":"engine","label":"L","type":"string","immutable":true},{"id":"disk","label":"L","type":"number"}]},
	{"id":"queues","label":"L","type":"object_array","item_inputs":[
		{"id":"fifo","label":"L","type":"boolean","default":false,"immutable":true},{"id":"delay","label":"L","type":"number"}]},
	{"id":"network","label":"L","type":"$ref:network","mapped_inputs":[
		{"id":"vpc","label":"L","type":"string","immutable":true},{"id":"zone","label":"L","type":"string"}]}
]`

func publish(t *testing.T, w *worldtest.World, p *worldtest.Fixture, version, inputs string) *worldtest.Fixture {
	t.Helper()
	list, err := strictjson.Parse([]byte(inputs))
	if err != nil {
		t.Fatal(err)
	}
	other := *p
	other.Version, _, err = w.Catalog.PublishVersion(w.Acme.As(actor.Admin), module.NewVersion{
		DefinitionID: p.Definition.ID, Version: version, Kind: module.DeploymentTypeECS, Inputs: list,
	})
	if err != nil {
		t.Fatal(err)
	}
	return &other
}

// ship makes a deployment of an instance of its own.
func ship(t *testing.T, w *worldtest.World, p *worldtest.Fixture, instance, inputs, artifact string) *ent.Deployment {
	t.Helper()
	d, _, err := w.Deploy.Propose.Create(w.Acme.As(actor.Developer), propose.New{
		InstanceID: p.NewInstance(t, instance).ID, VersionID: p.Version.ID, Inputs: strictjson.MustParse(inputs), Artifact: strictjson.MustParse(artifact),
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestAComparisonNamesWhatDiffersAndWhatMustNot(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := publish(t, w, w.Fixture(t, w.Acme, "shop"), "2.0.0", shop)
		one := ship(t, w, p, "one", `{"name":"a","size":1,"a/b~c":{"x":"1"},"stores":{"main":{"engine":"pg","disk":1}},
			"queues":[{"fifo":true,"delay":1}],"vpc":"v1","zone":"z1"}`, worldtest.Artifact)
		two := ship(t, w, p, "two", `{"name":"b","size":2,"a/b~c":{"x":"2"},"stores":{"main":{"engine":"my","disk":2}},
			"queues":[{"fifo":false,"delay":2}],"vpc":"v2","zone":"z2"}`, `{"arn":"arn:other","revision":8}`)
		got, err := w.Deploy.Releases.Compare(w.Acme.As(actor.Viewer), one.ID, two.ID)
		if err != nil {
			t.Fatal(err)
		}
		immutable := map[string]bool{}
		for _, c := range got.Inputs {
			if c.Kind != release.Changed || c.Before == nil || c.After == nil {
				t.Errorf("%+v", c)
			}
			immutable[c.Pointer] = c.Immutable
		}
		want := map[string]bool{
			"/name": true, "/size": false, "/a~1b~0c/x": true, "/stores/main/engine": true, "/stores/main/disk": false,
			"/queues/0/fifo": true, "/queues/0/delay": false, "/vpc": true, "/zone": false,
		}
		if diff := cmp.Diff(want, immutable); diff != "" {
			t.Errorf("immutable: want (-), got (+):\n%s", diff)
		}
		if got.SameRelease || got.From.ID != one.ID || got.To.ID != two.ID || *got.FromVersionID != p.Version.ID || got.ToVersionID != p.Version.ID {
			t.Errorf("%+v", got)
		}
		if len(got.Artifact) == 0 || slices.ContainsFunc(got.Artifact, func(c release.Change) bool { return c.Immutable }) {
			t.Errorf("artifact: %+v", got.Artifact)
		}
	})
}

func TestTheVersionComparedToSaysWhatIsImmutable(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		module, other := w.Fixture(t, w.Acme, "shop"), w.Fixture(t, w.Acme, "other")
		free := publish(t, w, module, "2.0.0", `[{"id":"name","label":"L","type":"string"}]`)
		locked := publish(t, w, other, "2.0.0", `[{"id":"name","label":"L","type":"string","immutable":true}]`)
		a := ship(t, w, free, "a", `{"name":"a"}`, worldtest.Artifact)
		b := ship(t, w, locked, "b", `{"name":"b"}`, worldtest.Artifact)
		for _, c := range []struct {
			from, to *ent.Deployment
			want     bool
		}{{a, b, true}, {b, a, false}} {
			got, err := w.Deploy.Releases.Compare(w.Acme.As(actor.Runner), c.from.ID, c.to.ID)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Inputs) != 1 || got.Inputs[0].Immutable != c.want || *got.FromVersionID == got.ToVersionID || len(got.Artifact) != 0 {
				t.Errorf("%+v", got)
			}
		}
	})
}

func TestWhatShipsTheSameReleaseDiffersInNothing(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		target := p.Succeeded(t)
		again, _, err := w.Deploy.Propose.Rollback(w.Acme.As(actor.Developer), propose.Replay{SourceID: target.ID})
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range []string{again.ID, target.ID} {
			got, err := w.Deploy.Releases.Compare(w.Acme.As(actor.Viewer), target.ID, other)
			if err != nil || !got.SameRelease || len(got.Inputs)+len(got.Artifact) != 0 || got.To.ID != other {
				t.Errorf("%+v, %v", got, err)
			}
		}
	})
}

func TestWhatCannotBeComparedIsRefused(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		good := w.Fixture(t, w.Acme, "good").Succeeded(t)
		theirs := w.Fixture(t, w.Globex, "web").Succeeded(t)
		gone := w.Fixture(t, w.Acme, "gone").Succeeded(t)
		raw(t, w, `UPDATE deployments SET release_id = NULL WHERE id = '`+gone.ID+`'`)
		changed := w.Fixture(t, w.Acme, "changed").Succeeded(t)
		raw(t, w, `UPDATE releases SET content = replace(content, 'web:1.4.2', 'web:6.6.6') WHERE id = '`+*changed.ReleaseID+`'`)
		for text, code := range map[string]fault.Code{
			theirs.ID: fault.DeploymentNotFound, id.New(id.Deployment): fault.DeploymentNotFound, id.New(id.Release): fault.DeploymentNotFound, "": fault.DeploymentNotFound,
			gone.ID: fault.ReleaseUnavailable, changed.ID: fault.ReleaseDigestMismatch,
		} {
			for _, pair := range [][2]string{{good.ID, text}, {text, good.ID}, {text, text}} {
				f := refused(t, w, "compare "+text, code, func() (*ent.Deployment, error) {
					got, err := w.Deploy.Releases.Compare(w.Acme.As(actor.Viewer), pair[0], pair[1])
					if got != nil {
						t.Errorf("%q: %+v", pair, got)
					}
					return nil, err
				})
				named := text
				if code == fault.ReleaseDigestMismatch {
					named = *changed.ReleaseID
				}
				if f != nil && !strings.Contains(f.Message, named) {
					t.Errorf("%q does not name %s", f.Message, named)
				}
			}
		}
		if _, err := w.Deploy.Releases.Compare(actor.With(t.Context(), actor.Anonymous()), good.ID, good.ID); !fault.Is(err, fault.RequestUnauthenticated) {
			t.Errorf("anonymous: %v", err)
		}
	})
}

func TestAComparisonIsToldOverGraphQLInThreeStatements(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		task := func(password, extra string) string {
			return `{"arn":"a","revision":1,"definition":{"containerDefinitions":[{"name":"web","environment":[` + extra + `{"name":"DB_PASSWORD","value":"` + password + `"}]}]}}`
		}
		one := ship(t, w, p, "one", `{"image":"web:1"}`, task("hunter2", ""))
		two := ship(t, w, p, "two", `{"image":"web:2","replicas":3}`, task("hunter3", `{"name":"A","value":null},`))
		w.GraphQL(t, w.Acme.Tokens[actor.Viewer], `{ viewer { tokenId } }`, nil)
		var r worldtest.Response
		ran := w.Statements(func() {
			r = w.GraphQL(t, w.Acme.Tokens[actor.Viewer], `query($from: ID!, $to: ID!) { compareDeployments(fromId: $from, toId: $to) {
				from { id } to { id } fromVersion { id } toVersion { id } sameRelease
				inputs { ...change } artifact { ...change } } }
				fragment change on ReleaseChange { pointer kind before after masked immutable }`, map[string]any{"from": one.ID, "to": two.ID})
		})
		if len(ran) != 3 {
			t.Errorf("%d statements:\n%s", len(ran), strings.Join(ran, "\n"))
		}
		version := `{"id":"` + p.Version.ID + `"}`
		want := `{"from":{"id":"` + one.ID + `"},"to":{"id":"` + two.ID + `"},"fromVersion":` + version + `,"toVersion":` + version + `,"sameRelease":false,
			"inputs":[
				{"pointer":"/image","kind":"CHANGED","before":"web:1","after":"web:2","masked":false,"immutable":false},
				{"pointer":"/replicas","kind":"CHANGED","before":2,"after":3,"masked":false,"immutable":false}],
			"artifact":[
				{"pointer":"/definition/containerDefinitions/0/environment/0/name","kind":"ADDED","before":null,"after":"A","masked":false,"immutable":false},
				{"pointer":"/definition/containerDefinitions/0/environment/0/value","kind":"ADDED","before":null,"after":null,"masked":false,"immutable":false},
				{"pointer":"/definition/containerDefinitions/0/environment/1/value","kind":"CHANGED","before":null,"after":null,"masked":true,"immutable":false}]}`
		if diff := cmp.Diff(any(object(t, []byte(want))), object(t, r.Body)["data"].(map[string]any)["compareDeployments"]); diff != "" {
			t.Errorf("want (-), got (+):\n%s", diff)
		}
	})
}
