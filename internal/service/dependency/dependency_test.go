package dependency_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/module"
	"slipway/internal/service/dependency"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// users makes instances that refer to others, by their names.
type users struct {
	*testing.T
	w       *worldtest.World
	p       *worldtest.Fixture
	version *ent.ModuleVersion
}

func newUsers(t *testing.T, w *worldtest.World) *users {
	t.Helper()
	p := w.Fixture(t, w.Acme, "ring")
	v, _, err := w.Catalog.PublishVersion(w.Acme.As(actor.Admin), module.NewVersion{DefinitionID: p.Definition.ID, Version: "2.0.0", Kind: module.DeploymentTypeECS,
		Inputs: strictjson.MustParse(`[{"id":"of","type":"$ref:ring","label":"Of"}]`)})
	if err != nil {
		t.Fatal(err)
	}
	return &users{t, w, p, v}
}

// refer makes an active deployment of one instance that refers to another.
func (u *users) refer(from, to string) {
	u.Helper()
	_, _, err := u.w.Deploy.Propose.Create(u.w.Acme.As(actor.Developer), propose.New{InstanceID: from, VersionID: u.version.ID,
		Inputs: strictjson.MustParse(fmt.Sprintf(`{"of":%q}`, to)), Artifact: strictjson.MustParse(worldtest.Artifact)})
	if err != nil {
		u.Fatal(err)
	}
}

func (u *users) check(ids ...string) error {
	never := func(context.Context, *ent.Client) (bool, error) { return false, nil }
	return u.w.Store.Tx(u.w.Acme.As(actor.Admin), never, func(ctx context.Context, tx *ent.Tx) error {
		return dependency.CheckUnused(ctx, u.w.Store, tx, ids)
	})
}

func TestWhatOthersReferToIsInUse(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		u := newUsers(t, w)
		on, idle := u.p.Instance.ID, u.p.NewInstance(t, "idle").ID
		if err := u.check(on, idle); err != nil {
			t.Error(err)
		}
		var ids []string
		for i := range 21 {
			ids = append(ids, u.p.NewInstance(t, fmt.Sprintf("user-%d", i)).ID)
			u.refer(ids[i], on)
		}
		slices.Sort(ids)
		if err := u.check(slices.Concat(ids, []string{on, idle})...); err != nil {
			t.Errorf("together with those that refer to it: %v", err)
		}
		for _, c := range []struct {
			with  []string
			named int
			total int
		}{{nil, 21, 21}, {ids[:1], 20, 20}, {ids[:20], 1, 1}} {
			var f *fault.Error
			if err := u.check(slices.Concat(c.with, []string{idle, on})...); !errors.As(err, &f) || f.Code != fault.ModuleInstanceInUse {
				t.Fatalf("%v", err)
			}
			items := f.Details[0].Items
			if len(items) != c.named || f.Metadata["dependents"] != c.total || !strings.HasPrefix(items[0], "user-") {
				t.Errorf("%d: %q, %v", c.total, items, f.Metadata)
			}
			if last := items[len(items)-1]; (c.total == 21) != (last == "… and 1 more") {
				t.Errorf("%d: %s", c.total, last)
			}
		}
		var f *fault.Error
		if err := u.check(on); !errors.As(err, &f) || len(f.Metadata["dependentIds"].([]string)) != 20 {
			t.Errorf("%v", err)
		}
	})
}

// A circle and a long chain cost what one step costs.
func TestOnlyWhoRefersByItselfDepends(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		u := newUsers(t, w)
		chain := []string{u.p.Instance.ID}
		for i := range 5 {
			chain = append(chain, u.p.NewInstance(t, fmt.Sprint("link-", i)).ID)
			u.refer(chain[i+1], chain[i])
		}
		u.refer(chain[0], chain[5])
		found, err := dependency.In(w.Store).Of(w.Acme.As(actor.Viewer), chain)
		if err != nil {
			t.Fatal(err)
		}
		for i, id := range chain {
			if want := chain[(i+1)%6]; len(found[id]) != 1 || found[id][0] != want {
				t.Errorf("%d: %q, want %s", i, found[id], want)
			}
		}
		theirs, err := dependency.In(w.Store).Of(w.Globex.As(actor.Viewer), chain)
		if err != nil || len(theirs) != 0 {
			t.Errorf("%v, %v", theirs, err)
		}
	})
}

func TestTextsOfReleasesThatKeptNothingAreSearchedAndCounted(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		u := newUsers(t, w)
		on, user := u.p.Instance.ID, u.p.NewInstance(t, "user").ID
		u.refer(user, on)
		for i := range 12 {
			u.p.Deploy(t, u.p.NewInstance(t, fmt.Sprint("long-", i)).ID, fmt.Sprintf(`{"image":"%d%s"}`, i, strings.Repeat("x", 9_000)))
		}
		if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), `UPDATE deployments SET given_from = NULL`); err != nil {
			t.Fatal(err)
		}
		ask := func(cost int) ([]string, error) {
			ctx := meter.With(w.Acme.As(actor.Viewer), meter.New(meter.Limits{Cost: cost}, 0, nil))
			found, err := dependency.In(w.Store).Of(ctx, []string{on, user})
			return found[on], err
		}
		if found, err := ask(1000); err != nil || !slices.Equal(found, []string{user}) {
			t.Errorf("%q, %v", found, err)
		}
		if _, err := ask(50); err == nil {
			t.Error("100 kB are searched and not counted")
		}
		if err := u.check(on); !fault.Is(err, fault.ModuleInstanceInUse) {
			t.Errorf("%v", err)
		}
	})
}
