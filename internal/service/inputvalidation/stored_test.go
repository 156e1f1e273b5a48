package inputvalidation_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/release"
	"slipway/internal/service/inputvalidation"
	"slipway/internal/test/worldtest"
)

func TestWhatIsStoredIsCheckedByTodaysRules(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, other := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Globex, "web")
		choice := input("s", "string", `"values":["x"],"default":"x"`)
		d, v := definition(t, w, w.Acme, "s", choice), version(t, w, p, "2.0.0", "["+choice+"]")
		shipped := live(t, w, p, p.Version, `{"image":"web:1"}`)
		if got := found(system(w.Acme), t, w); len(got) > 0 {
			t.Errorf("before rules changed: %v", got)
		}
		older := strings.Replace(choice, `"default":"x"`, `"default":""`, 1)
		for statement, row := range map[string][]any{
			`UPDATE default_value_definitions SET schema = $1 WHERE id = $2`: {older, d.ID},
			`UPDATE module_versions SET inputs = $1 WHERE id = $2`:           {"[" + older + "]", v.ID},
		} {
			if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), statement, row...); err != nil {
				t.Fatal(err)
			}
		}
		stricter, err := release.Seal(release.Unsealed{
			ModuleVersionID: p.Version.ID, Kind: p.Version.Kind, Inputs: strictjson.MustParse(`{"image":"web:1","replicas":""}`),
		})
		if err != nil {
			t.Fatal(err)
		}
		const shippedBefore = `UPDATE releases SET content = $1, digest = $2 WHERE id = $3`
		if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), shippedBefore, stricter.JSON, stricter.Digest, *shipped.ReleaseID); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"definition " + d.ID + " s /schema/default not_in_values",
			"live release " + p.Instance.ID + " web /inputs/replicas type",
			"version " + v.ID + " 2.0.0 /inputs/0/default not_in_values",
		}
		got := found(system(w.Acme), t, w)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
		if got := found(system(w.Globex), t, w); len(got) > 0 {
			t.Errorf("another organization: %v of %s", got, other.Definition.ID)
		}
	})
}

func TestEveryStoredRowIsCheckedOnce(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		const rows = 45 // more than are read at once
		for i := range rows {
			definition(t, w, w.Acme, fmt.Sprintf("d%d", i), input("s", "text", ""))
		}
		seen := map[string]int{}
		if err := w.Inputs.CheckStored(system(w.Acme), func(s inputvalidation.Stored) error { seen[s.ID]++; return nil }); err != nil {
			t.Fatal(err)
		}
		for id, times := range seen {
			if times != 1 {
				t.Errorf("%s was checked %d times", id, times)
			}
		}
		if len(seen) != rows {
			t.Errorf("%d of %d were checked", len(seen), rows)
		}
	})
}

// system is the server itself, in an organization.
func system(o *worldtest.Org) context.Context {
	return actor.With(context.Background(), (&actor.Actor{Name: "test", Role: actor.System, Channel: actor.CLI}).In(o.ID))
}

// What was deployed while nobody read outputs lacks what only they can give.
func TestAStoredReleaseThatLacksAnOutputIsFound(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		base, p := w.Fixture(t, w.Acme, "base"), w.Fixture(t, w.Acme, "web")
		v := mapped(t, w, p, "2.0.0", reading("vpc", "string", "vpc_id", `"required":true`), reading("zone", "string", "zone", ""))
		network(t, w, base, "web:1", `{"vpc_id":"vpc-1"}`)
		shipped := live(t, w, p, v, `{"of":"`+base.Instance.ID+`"}`)
		want := func(what, inputs string, list ...string) {
			t.Helper()
			sealed, err := release.Seal(release.Unsealed{ModuleVersionID: v.ID, Kind: v.Kind, Inputs: strictjson.MustParse(inputs)})
			if err != nil {
				t.Fatal(err)
			}
			const before = `UPDATE releases SET content = $1, digest = $2 WHERE id = $3`
			if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), before, sealed.JSON, sealed.Digest, *shipped.ReleaseID); err != nil {
				t.Fatal(err)
			}
			if got := found(system(w.Acme), t, w); !slices.Equal(got, list) {
				t.Errorf("%s: got %q, want %q", what, got, list)
			}
		}
		lacking, having := `{"of":"`+base.Instance.ID+`"}`, `{"of":"`+base.Instance.ID+`","vpc":"vpc-1"}`
		want("it is reported by now", lacking)
		network(t, w, base, "web:2", "")
		want("it is not reported, and was read before", having)
		want("it is not reported and was never read", lacking, "live release "+p.Instance.ID+" web /inputs/vpc output_missing")
	})
}

func found(ctx context.Context, t *testing.T, w *worldtest.World) []string {
	t.Helper()
	var list []string
	err := w.Inputs.CheckStored(ctx, func(s inputvalidation.Stored) error {
		for _, v := range broken(s.Violations) {
			list = append(list, s.Kind+" "+s.ID+" "+s.Name+" "+v)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return list
}
