package inputvalidation_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/module"
	"slipway/internal/pure/release"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/inputvalidation"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// seedOf returns what a run is drawn from: SLIPWAY_TEST_SEED, or always the same.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	text, given := os.LookupEnv("SLIPWAY_TEST_SEED")
	if !given {
		text = "1"
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("SLIPWAY_TEST_SEED: %v", err)
	}
	t.Logf("SLIPWAY_TEST_SEED=%d", seed)
	return seed
}

// differential compares what the three that check values say of the same ones.
type differential struct {
	*worldtest.World
	*worldtest.Fixture
	generator
	version  *ent.ModuleVersion
	versions int
	// instance is one that has no active deployment, nil if it is to be made.
	instance         *ent.ModuleInstance
	accepted         int
	instances, cases int
}

func newDifferential(t *testing.T, w *worldtest.World) *differential {
	t.Helper()
	p, foreign := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Globex, "web")
	live(t, w, p, p.Version, `{"image":"web:1","replicas":7}`)
	d := &differential{World: w, Fixture: p, generator: generator{Rand: rand.New(rand.NewPCG(seedOf(t), 1))}}
	d.generator.instances = []string{p.Instance.ID, p.Instance.ID, p.NewInstance(t, "idle").ID, foreign.Instance.ID, "inst_1"}
	return d
}

// publish publishes inputs that keep the rules, and returns their variants.
func (d *differential) publish(t *testing.T) map[string]string {
	t.Helper()
	for range 1000 {
		kinds := map[string]string{}
		list := "[" + d.list(1, kinds) + "]"
		d.versions++
		v, _, err := d.Catalog.PublishVersion(d.Acme.As(actor.Admin), module.NewVersion{
			DefinitionID: d.Definition.ID, Version: fmt.Sprintf("2.0.%d", d.versions), Kind: module.DeploymentTypeECS, Inputs: parsed(t, list),
		})
		if err == nil {
			d.version = v
			return kinds
		}
		if !fault.Is(err, fault.ModuleVersionRuleBroken) {
			t.Fatalf("%s: %v", list, err)
		}
	}
	t.Fatal("no inputs keep the rules")
	return nil
}

// compare has values validated, resolved and deployed.
func (d *differential) compare(t *testing.T, values string) {
	t.Helper()
	if d.instance == nil {
		d.instances++
		d.instance = d.NewInstance(t, fmt.Sprintf("i%d", d.instances))
	}
	d.cases++
	viewer := d.Acme.As(actor.Viewer)
	q := inputvalidation.Request{VersionID: &d.version.ID, InstanceID: &d.instance.ID, Values: strictjson.MustParse(values)}
	validated, err := d.Inputs.Validate(viewer, q)
	if err != nil {
		t.Fatalf("%s: %v", values, err)
	}
	for _, v := range validated.Violations {
		if strings.Contains(v.Message, "hunter2") && (strings.Contains(v.Pointer, "password") || strings.Contains(v.Message, "PASSWORD=")) {
			t.Errorf("%s: %s repeats a secret: %s", values, v.Pointer, v.Message)
		}
	}
	made, err := created(d.Acme.As(actor.Developer), d.World, d.instance.ID, d.version.ID, values)
	if refusal, ok := errors.AsType[*fault.Error](err); ok && refusal.Code == fault.DeploymentInputsInvalid {
		if diff := cmp.Diff(fault.Under("/inputs", validated.Violations), refusal.Violations); diff != "" {
			t.Errorf("%s: validateInputs (-) and createDeployment (+) differ: %s", values, diff)
		}
		return
	}
	if err != nil || len(validated.Violations) > 0 {
		t.Errorf("%s: validateInputs says %v, createDeployment %v", values, validated.Violations, err)
		return
	}
	d.accepted++
	d.same(t, q, values, d.releaseOf(t, made))
	d.instance = nil
}

// same fails if the inputs of a release are not what resolving says of the values, and of these inputs again.
func (d *differential) same(t *testing.T, q inputvalidation.Request, values, released string) {
	t.Helper()
	viewer := d.Acme.As(actor.Viewer)
	for _, from := range []string{values, released} {
		q.Values = strictjson.MustParse(from)
		r, violations, err := d.Inputs.Resolve(viewer, q)
		if err != nil || len(violations) > 0 || len(r.Unresolved) > 0 {
			t.Errorf("resolve %s: %v, %v", from, violations, err)
			return
		}
		if got := sealed(t, r.Values); got != released {
			t.Errorf("%s\nreleased %s\nresolved %s", from, released, got)
		}
	}
	if again, err := d.Inputs.Validate(viewer, q); err != nil || len(again.Violations) > 0 {
		t.Errorf("the release of %s is validated: %v, %v", values, again, err)
	}
}

func (d *differential) releaseOf(t *testing.T, made *ent.Deployment) string {
	t.Helper()
	r, err := d.Store.Client.Release.Get(d.Acme.As(actor.Viewer), *made.ReleaseID)
	if err != nil {
		t.Fatal(err)
	}
	content, err := release.Open(r.Digest, r.Content)
	if err != nil {
		t.Fatal(err)
	}
	return string(content.Inputs)
}

// sealed returns values as a release has them.
func sealed(t *testing.T, values *strictjson.Node) string {
	t.Helper()
	s, err := release.Seal(release.Unsealed{ModuleVersionID: "v", Kind: "k", Inputs: values})
	if err != nil {
		t.Fatal(err)
	}
	content, err := release.Open(s.Digest, s.JSON)
	if err != nil {
		t.Fatal(err)
	}
	return string(content.Inputs)
}

// valuesEach is how many values are tried for the same inputs.
const valuesEach = 20

func TestTheThreeThatCheckValuesAgree(t *testing.T) {
	t.Parallel()
	often := map[string]int{"sqlite": testkit.Often(1000, 5000), "postgres": testkit.Often(100, 300)}
	for name, cases := range often {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDifferential(t, worldtest.New(t, worldtest.Databases[name](t)))
			for d.cases < cases && !t.Failed() {
				kinds := d.publish(t)
				for range valuesEach {
					if d.compare(t, d.values(kinds, 1)); t.Failed() {
						t.Logf("inputs: %s", d.version.Inputs.JSON())
						break
					}
				}
			}
			if share := 100 * d.accepted / d.cases; share < 20 || share > 80 {
				t.Errorf("%d %% of the values are good", share)
			}
		})
	}
}

func TestReplaysAreNeverValidated(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		d := newDifferential(t, w)
		db := w.Raw(t, w.Acme)
		for tries := 0; d.accepted < 10 && tries < 500; tries++ {
			kinds := d.publish(t)
			made, err := created(w.Acme.As(actor.Developer), w, d.Fixture.Instance.ID, d.version.ID, d.values(kinds, 1))
			if err != nil {
				continue
			}
			d.accepted++
			d.Finish(t, made, nil)
			const refuses = `UPDATE module_versions SET inputs = $1 WHERE id = $2`
			if _, err := db.ExecContext(t.Context(), refuses, "["+input("other", "string", `"required":true`)+"]", d.version.ID); err != nil {
				t.Fatal(err)
			}
			again, _, err := w.Deploy.Propose.Redeploy(w.Acme.As(actor.Developer), propose.Replay{SourceID: made.ID})
			if err != nil {
				t.Fatalf("a replay of %s: %v", d.releaseOf(t, made), err)
			}
			if *again.ReleaseID != *made.ReleaseID {
				t.Errorf("another release was made of %s", d.releaseOf(t, made))
			}
			d.Finish(t, again, nil)
		}
		if d.accepted < 10 {
			t.Errorf("only %d were replayed", d.accepted)
		}
	})
}
