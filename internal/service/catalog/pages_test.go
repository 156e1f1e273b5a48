package catalog_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/data/page"
	"slipway/internal/service/catalog"
	"slipway/internal/test/worldtest"
)

// interleave makes n definitions of each of two organizations and n global ones, in turn, six at a time
// created at once, and returns the names of those that acme sees, newest first.
func interleave(t *testing.T, w *worldtest.World, n int) (names []string) {
	t.Helper()
	never := func(context.Context, *ent.Client) (bool, error) { return false, nil }
	owners := []struct {
		organization *string
		as           context.Context
	}{{&w.Acme.ID, w.Acme.As(actor.Admin)}, {nil, root()}, {&w.Globex.ID, w.Globex.As(actor.Admin)}}
	for i := range 3 * n {
		owner, name := owners[i%3], fmt.Sprintf("m%02d", i)
		at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC).Add(time.Duration(i/6) * time.Microsecond)
		if err := w.Store.Tx(owner.as, never, func(ctx context.Context, tx *ent.Tx) error {
			return tx.ModuleDefinition.Create().SetID("mod_" + name).SetNillableOrganizationID(owner.organization).
				SetCreatedAt(at).SetUpdatedAt(at).SetName(name).SetType(name).SetSearchText(name + " 100% of_it").SetStatus("ACTIVE").Exec(ctx)
		}); err != nil {
			t.Fatal(err)
		}
		if i%3 < 2 {
			names = append([]string{name}, names...)
		}
	}
	return names
}

func TestOwnAndGlobalDefinitionsAreOneListInPages(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		want := interleave(t, w, 5)
		search := "m"
		for name, filter := range map[string]catalog.DefinitionFilter{"all": {}, "found": {Search: &search}} {
			for size := int32(1); size <= 11; size++ {
				var forward, backward []string
				for args := (page.Args{First: &size}); ; {
					c := definitions(t, w, filter, args)
					forward = append(forward, namesOf(c)...)
					if args.After = c.PageInfo.EndCursor; !c.PageInfo.HasNextPage {
						break
					}
				}
				for args := (page.Args{Last: &size}); ; {
					c := definitions(t, w, filter, args)
					backward = append(namesOf(c), backward...)
					if args.Before = c.PageInfo.StartCursor; !c.PageInfo.HasPreviousPage {
						break
					}
				}
				if diff := cmp.Diff([][]string{want, want}, [][]string{forward, backward}); diff != "" {
					t.Errorf("%s, by %d: want (-), got (+):\n%s", name, size, diff)
				}
			}
		}
	})
}

func TestSearchTakesEveryCharacterForItself(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		all := interleave(t, w, 2)
		for search, want := range map[string][]string{
			"%": all, "100% OF_IT": all, "0%0": nil, "m_0": nil, `\`: nil, "'": nil, "M01": {"m01"},
		} {
			c := definitions(t, w, catalog.DefinitionFilter{Search: &search}, page.Args{})
			n, err := c.TotalCount(w.Acme.As(actor.Viewer))
			if !slices.Equal(namesOf(c), want) || int(n) != len(want) || err != nil {
				t.Errorf("%q: %v of %d, %v, want %v", search, namesOf(c), n, err, want)
			}
		}
	})
}

func definitions(t *testing.T, w *worldtest.World, f catalog.DefinitionFilter, args page.Args) *page.ModuleDefinitionConnection {
	t.Helper()
	c, err := w.Catalog.Definitions(w.Acme.As(actor.Viewer), f, args)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func namesOf(c *page.ModuleDefinitionConnection) (names []string) {
	for _, d := range c.Nodes() {
		names = append(names, d.Name)
	}
	return names
}
