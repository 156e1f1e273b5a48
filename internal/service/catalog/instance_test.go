package catalog_test

import (
	"slices"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/page"
	"slipway/internal/service/catalog"
	"slipway/internal/test/worldtest"
)

func TestInstancesAreFoundByAPartOfTheirName(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, ctx := w.Fixture(t, w.Acme, "shop"), w.Acme.As(actor.Viewer)
		w.Fixture(t, w.Globex, "shop")
		for _, name := range []string{"Orders", "orders_archive", "queue"} {
			p.NewInstance(t, name)
		}
		for search, want := range map[string]string{
			"ORDER": "Orders orders_archive", "s_a": "orders_archive", "_": "orders_archive", "%": "", "we": "web", "absent": "",
		} {
			list, err := w.Catalog.Instances(ctx, catalog.InstanceFilter{Search: &search, EnvironmentID: &p.Environment.ID}, page.Args{})
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			for _, i := range list.Nodes() {
				found = append(found, i.Name)
			}
			slices.Sort(found)
			if got := strings.Join(found, " "); got != want {
				t.Errorf("%q: %q, want %q", search, got, want)
			}
		}
		for _, search := range []string{"", strings.Repeat("x", 101)} {
			if _, err := w.Catalog.Instances(ctx, catalog.InstanceFilter{Search: &search}, page.Args{}); !fault.Is(err, fault.RequestInvalid) {
				t.Errorf("%d characters: %v", len(search), err)
			}
		}
	})
}
