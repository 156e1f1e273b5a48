package rule_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/pure/gate"
	"slipway/internal/service/archive"
	"slipway/internal/service/rule"
	"slipway/internal/service/workspace"
	"slipway/internal/test/worldtest"
)

func TestAnEnvironmentWithTheSlugOfAnArchivedOneHasNoneOfItsRules(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		admin, p := w.Acme.As(actor.Admin), w.Fixture(t, w.Acme, "web")
		approved := gate.Demand{Kind: &gate.Approvals{Count: 1, Role: actor.Developer}}
		for name, in := range map[string]rule.New{
			"of the environment": {EnvironmentID: &p.Environment.ID}, "of the project": {ProjectID: &p.Project.ID}, "of all": {},
		} {
			in.Name, in.Demand = name, approved
			if _, _, err := w.Rules.Create(admin, in); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Archive.ArchiveEnvironment(admin, archive.Request{ID: p.Environment.ID}); err != nil {
			t.Fatal(err)
		}

		follower, err := w.Workspace.CreateEnvironment(admin, workspace.NewEnvironment{
			ProjectID: p.Project.ID, Name: p.Environment.Name, Slug: p.Environment.Slug,
		})
		if err != nil {
			t.Fatal(err)
		}
		of, err := w.Rules.InForceOf(admin, []string{follower.ID})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, r := range of[follower.ID] {
			names = append(names, r.Name)
		}
		slices.Sort(names)
		if diff := cmp.Diff([]string{"of all", "of the project"}, names); diff != "" {
			t.Error(diff)
		}
	})
}
