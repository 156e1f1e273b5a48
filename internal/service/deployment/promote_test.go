package deployment_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/page"
	"slipway/internal/pure/gate"
	"slipway/internal/service/archive"
	"slipway/internal/service/catalog"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/deployment/releases"
	"slipway/internal/service/rule"
	"slipway/internal/service/workspace"
	"slipway/internal/test/worldtest"
)

// promotable has inputs of each sort that a promotion treats in a way of its own.
const promotable = `[
	{"id":"image","type":"string","label":"Image","required":true},
	{"id":"level","type":"string","label":"Level","default":"${{ environment.slug }}"},
	{"id":"size","type":"number","label":"Size","immutable":true},
	{"id":"net","type":"$ref:network","label":"Network"},
	{"id":"disks","type":"object_map","label":"Disks","item_inputs":[
		{"id":"gib","type":"number","label":"GiB","immutable":true},
		{"id":"kind","type":"string","label":"Kind"},
		{"id":"net","type":"$ref:network","label":"Network"}]}]`

// stages are two environments, and networks in each.
type stages struct {
	*worldtest.Fixture
	w                    *worldtest.World
	version, environment string
	// networks has the ids by environment/name.
	networks map[string]string
}

func newStages(t *testing.T, w *worldtest.World) *stages {
	t.Helper()
	s := &stages{Fixture: w.Fixture(t, w.Acme, "web"), w: w, networks: map[string]string{}}
	admin := w.Acme.As(actor.Admin)
	s.version = newVersion(t, w, s.Fixture, "2.0.0", promotable).ID
	staging, err := w.Workspace.CreateEnvironment(admin, workspace.NewEnvironment{ProjectID: s.Project.ID, Name: "Staging", Slug: "staging"})
	if err != nil {
		t.Fatal(err)
	}
	s.environment = staging.ID
	network := w.Fixture(t, w.Acme, "network").Definition.ID
	for _, name := range []string{"inner", "outer", "only-in-staging", "archived"} {
		s.networks["staging/"+name] = s.instance(t, s.environment, network, name)
		if name != "only-in-staging" {
			s.networks["production/"+name] = s.instance(t, s.Environment.ID, network, name)
		}
	}
	if _, err := w.Archive.ArchiveInstance(admin, archive.Request{ID: s.networks["production/archived"]}); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *stages) instance(t *testing.T, environmentID, definitionID, name string) string {
	t.Helper()
	made, err := s.w.Catalog.CreateInstance(s.w.Acme.As(actor.Admin), catalog.NewInstance{EnvironmentID: environmentID, DefinitionID: definitionID, Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return made.ID
}

// values replaces the names of networks in values by their ids.
func (s *stages) values(values string) *strictjson.Node {
	for name, id := range s.networks {
		values = strings.ReplaceAll(values, `"`+name+`"`, `"`+id+`"`)
	}
	return strictjson.MustParse(values)
}

// names replaces the ids of networks by their names.
func (s *stages) names(values json.RawMessage) string {
	text := string(values)
	for name, id := range s.networks {
		text = strings.ReplaceAll(text, id, name)
	}
	return text
}

// live deploys values to an instance, and succeeds.
func (s *stages) live(t *testing.T, instanceID, values string, artifact int) *ent.Deployment {
	t.Helper()
	d, _, err := s.w.Deploy.Propose.Create(s.w.Acme.As(actor.Developer), propose.New{InstanceID: instanceID, VersionID: s.version,
		Inputs: s.values(values), Artifact: strictjson.MustParse(fmt.Sprintf(`{"revision":%d}`, artifact))})
	if err != nil {
		t.Fatal(err)
	}
	return s.Finish(t, d, nil)
}

// shipped returns what a deployment ships.
func (s *stages) shipped(ctx context.Context, t *testing.T, d *ent.Deployment) (inputs, artifact string) {
	t.Helper()
	stored, err := s.w.Deploy.Releases.Release(ctx, *d.ReleaseID)
	if err != nil {
		t.Fatal(err)
	}
	content, err := releases.ContentOf(ctx, stored)
	if err != nil {
		t.Fatal(err)
	}
	return s.names(content.Inputs), string(content.Artifact)
}

func TestAPromotionShipsWhatWasGivenAsItCountsThere(t *testing.T) {
	t.Parallel()
	const given = `{"image":"web:2","size":2,"net":"staging/inner","disks":{"data":{"gib":10,"kind":"ssd","net":"staging/outer"},"log":{"gib":5}}}`
	cases := map[string]struct {
		// source was given to staging, and live to production, "" for nothing.
		source, live string
		own          []string
		// anew is given to the promotion.
		anew string
		// want is what is shipped, or what is wrong.
		want string
		// artifact is the revision that is shipped, if it is not staging's.
		artifact int
	}{
		"to an instance that has nothing": {
			source: given,
			want:   `{"disks":{"data":{"gib":10,"kind":"ssd","net":"production/outer"},"log":{"gib":5}},"image":"web:2","level":"production","net":"production/inner","size":2}`,
		},
		"immutable inputs that are there stay, in items, too": {
			source: given, live: `{"image":"web:1","size":4,"disks":{"data":{"gib":99}}}`,
			want: `{"disks":{"data":{"gib":99,"kind":"ssd","net":"production/outer"},"log":{"gib":5}},"image":"web:2","level":"production","net":"production/inner","size":4}`,
		},
		"the instance's own inputs stay": {
			source: `{"image":"web:2","level":"debug"}`, live: `{"image":"web:1","level":"error"}`, own: []string{"level"},
			want: `{"image":"web:2","level":"error"}`,
		},
		"own inputs that were not given have their defaults": {
			source: `{"image":"web:2","level":"debug"}`, live: `{"image":"web:1"}`, own: []string{"level"},
			want: `{"image":"web:2","level":"production"}`,
		},
		"own inputs are given anew": {
			source: `{"image":"web:2","level":"debug"}`, live: `{"image":"web:1","level":"error"}`, own: []string{"level"}, anew: `{"level":"warn"}`,
			want: `{"image":"web:2","level":"warn"}`,
		},
		"the artifact is the instance's own": {
			source: `{"image":"web:2"}`, live: `{"image":"web:1"}`, own: []string{"artifact"},
			want: `{"image":"web:2","level":"production"}`, artifact: 1,
		},
		"a reference is given anew": {
			source: `{"image":"web:2","net":"staging/only-in-staging"}`, anew: `{"net":"production/outer"}`,
			want: `{"image":"web:2","level":"production","net":"production/outer"}`,
		},
		"a reference without a counterpart": {source: `{"image":"web:2","net":"staging/only-in-staging"}`, want: "/inputs/net reference"},
		"one whose counterpart is archived": {source: `{"image":"web:2","net":"staging/archived"}`, want: "/inputs/net reference"},
		"one within an item":                {source: `{"image":"web:2","disks":{"a/b":{"net":"staging/only-in-staging"}}}`, want: "/inputs/disks/a~1b/net reference"},
		"what is not the instance's own":    {source: `{"image":"web:2"}`, anew: `{"image":"web:3"}`, want: "/inputs/image not_own"},
		"what is no input":                  {source: `{"image":"web:2"}`, anew: `{"imagine":"web:3"}`, want: "/inputs/imagine not_own"},
	}
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		s := newStages(t, w)
		made := 0
		for name, c := range cases {
			made++
			staging := s.instance(t, s.environment, s.Definition.ID, fmt.Sprint("web-", made))
			production := s.NewInstance(t, fmt.Sprint("web-", made)).ID
			source := s.live(t, staging, c.source, 2)
			if c.live != "" {
				s.live(t, production, c.live, 1)
			}
			if c.own != nil {
				if _, err := w.Catalog.UpdateInstance(w.Acme.As(actor.Admin), production, catalog.InstancePatch{OwnInputs: &c.own}); err != nil {
					t.Fatal(err)
				}
			}
			in := propose.Promotion{SourceID: source.ID, InstanceID: production}
			if c.anew != "" {
				in.Inputs = s.values(c.anew)
			}
			made, _, err := w.Deploy.Propose.Promote(w.Acme.As(actor.Developer), in)
			if f, refused := errors.AsType[*fault.Error](err); refused {
				if got := violated(f); got != c.want {
					t.Errorf("%s: %s, want %s", name, got, c.want)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if inputs, artifact := s.shipped(w.Acme.As(actor.Viewer), t, made); inputs != c.want || artifact != fmt.Sprintf(`{"revision":%d}`, cmp.Or(c.artifact, 2)) {
				t.Errorf("%s: ships %s and %s\nwant  %s", name, inputs, artifact, c.want)
			}
			if made.TriggerSource != "promotion" || *made.PromotedFrom != source.ID || made.ModuleInstanceID != production {
				t.Errorf("%s: %+v", name, made)
			}
			// What is replayed is still what was promoted.
			again, _, err := w.Deploy.Propose.Redeploy(w.Acme.As(actor.Developer), propose.Replay{SourceID: s.Finish(t, made, nil).ID})
			if err != nil || *again.PromotedFrom != source.ID || *again.ReleaseID != *made.ReleaseID {
				t.Errorf("%s: %+v, %v", name, again, err)
			}
			w.Cancel(t, w.Acme, again.ID)
		}
	})
}

// However many references there are, their counterparts are looked up at once.
func TestAPromotionLooksCounterpartsUpInOneStatement(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		s := newStages(t, w)
		staging := s.instance(t, s.environment, s.Definition.ID, "staged")
		source := s.live(t, staging, `{"image":"web:2","net":"staging/inner","disks":{"a":{"net":"staging/outer"},"b":{"net":"staging/inner"}}}`, 2)
		ran := w.Statements(func() {
			in := propose.Promotion{SourceID: source.ID, InstanceID: s.Instance.ID}
			if _, _, err := w.Deploy.Propose.Promote(w.Acme.As(actor.Developer), in); err != nil {
				t.Fatal(err)
			}
		})
		if n := strings.Count(strings.Join(ran, "\n"), "there_id"); n != 1 {
			t.Errorf("%d statements look for counterparts: %s", n, summary(ran))
		}
	})
}

func TestWhatCannotBePromotedIsRefused(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, other := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Acme, "database")
		target := p.NewInstance(t, "target").ID
		failed, succeeded := p.Failed(t), p.Succeeded(t)
		canceled := p.Deploy(t, p.Instance.ID, `{"image":"web:2"}`)
		w.Cancel(t, w.Acme, canceled.ID)
		running := p.Deploy(t, p.NewInstance(t, "busy").ID, `{"image":"web:2"}`)
		p.Claim(t, running)
		destroy, _, err := w.Deploy.Propose.Destroy(w.Acme.As(actor.Admin), propose.Destroy{InstanceID: p.Instance.ID})
		if err != nil {
			t.Fatal(err)
		}
		raw(t, w, `UPDATE deployments SET given_from = NULL WHERE id = '`+succeeded.ID+`'`)
		before := w.Rows(t)
		for _, c := range []struct{ source, instance, want string }{
			{failed.ID, target, "slipway:Deployment:TARGET_NOT_SUCCEEDED"},
			{canceled.ID, target, "slipway:Deployment:TARGET_NOT_SUCCEEDED"},
			{running.ID, target, "slipway:Deployment:TARGET_NOT_SUCCEEDED"},
			{destroy.ID, target, "slipway:Deployment:NOT_REPLAYABLE"},
			{succeeded.ID, p.Instance.ID, "/moduleInstanceId same_instance"},
			{succeeded.ID, other.Instance.ID, "/moduleInstanceId other_module"},
			{succeeded.ID, target, "slipway:Deployment:INPUTS_UNKNOWN"},
			{"dep_01h455vb4pex5vsknk084sn02q", target, "slipway:Deployment:NOT_FOUND"},
			{succeeded.ID, "inst_01h455vb4pex5vsknk084sn02q", "slipway:ModuleInstance:NOT_FOUND"},
		} {
			_, _, err := w.Deploy.Propose.Promote(w.Acme.As(actor.Developer), propose.Promotion{SourceID: c.source, InstanceID: c.instance})
			f, ok := errors.AsType[*fault.Error](err)
			if !ok {
				t.Fatalf("%s: %v", c.want, err)
			}
			if got := cmp.Or(violated(f), string(f.Code)); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		}
		if diff := gocmp.Diff(before, w.Rows(t)); diff != "" {
			t.Error(diff)
		}
	})
}

// However many instances are asked for what could be promoted to them, it is looked for at once. One past a page of what is looked
// for at once is there, too.
func TestWhatCouldBePromotedIsFoundForManyInstancesAtOnce(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		s := newStages(t, w)
		staged := s.live(t, s.instance(t, s.environment, s.Definition.ID, "staged"), `{"image":"web:2"}`, 2)
		here := s.live(t, s.Instance.ID, `{"image":"web:1"}`, 1)
		elsewhere := w.Fixture(t, w.Acme, "elsewhere")
		far := s.live(t, s.instance(t, elsewhere.Environment.ID, s.Definition.ID, "far"), `{"image":"web:3"}`, 1)
		other := s.instance(t, elsewhere.Environment.ID, s.Definition.ID, "other")
		ids := []string{s.Instance.ID, other}
		for i := range 51 {
			ids = append(ids, s.NewInstance(t, fmt.Sprint("many-", i)).ID)
		}
		found := func(ids ...string) (of map[string][]string, statements int) {
			of = map[string][]string{}
			ran := w.Statements(func() {
				all, err := w.Deploy.View.PromotableOf(w.Acme.As(actor.Viewer), ids, page.Args{})
				if err != nil {
					t.Fatal(err)
				}
				for id, list := range all {
					for _, d := range list.Nodes() {
						of[id] = append(of[id], d.ID)
					}
				}
			})
			return of, len(ran)
		}
		of, one := found(s.Instance.ID)
		if diff := gocmp.Diff(map[string][]string{s.Instance.ID: {staged.ID}}, of); diff != "" {
			t.Error(diff)
		}
		of, many := found(ids...)
		if many != one+1 {
			t.Errorf("%d statements for one instance, %d for %d", one, many, len(ids))
		}
		want := map[string][]string{s.Instance.ID: {staged.ID}, other: {far.ID}}
		for _, id := range ids[2:] {
			want[id] = []string{staged.ID, here.ID} // the newer instance first
		}
		if diff := gocmp.Diff(want, of); diff != "" {
			t.Error(diff)
		}
		// A rule says where promotions come from.
		if _, _, err := w.Rules.Create(w.Acme.As(actor.Admin), rule.New{Name: "far", EnvironmentID: &s.Environment.ID,
			Demand: gate.Demand{Kind: &gate.LiveIn{EnvironmentIDs: []string{elsewhere.Environment.ID}}}}); err != nil {
			t.Fatal(err)
		}
		of, _ = found(s.Instance.ID, other)
		if diff := gocmp.Diff(map[string][]string{s.Instance.ID: {far.ID}, other: {far.ID}}, of); diff != "" {
			t.Error(diff)
		}
	})
}
