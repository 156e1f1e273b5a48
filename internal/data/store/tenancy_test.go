package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"entgo.io/ent/dialect/sql"
	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	entdeployment "slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/data/page"
	"slipway/internal/data/store"
	"slipway/internal/service/catalog"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/deployment/view"
	"slipway/internal/test/worldtest"
)

func TestQueriesWithoutAnActorFail(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ctx := context.Background()
		if _, err := w.Store.Client.Deployment.Query().All(ctx); err == nil {
			t.Error("a list was read")
		}
		if _, err := w.Store.Client.Deployment.Query().Count(ctx); err == nil {
			t.Error("a list was counted")
		}
		if _, err := w.Store.Client.Organization.Get(ctx, w.Acme.ID); err == nil {
			t.Error("a control table was read")
		}
		err := w.Store.Tx(ctx, never, func(ctx context.Context, tx *ent.Tx) error {
			return newProject(ctx, tx, w.Acme.ID, "web")
		})
		if err == nil {
			t.Error("a row was written")
		}
	})
}

func TestWritesReachOwnRowsOnly(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		theirs := w.Fixture(t, w.Globex, "web")
		before := w.Rows(t)
		for name, write := range map[string]func(context.Context, *ent.Tx) error{
			"create in another's name": func(ctx context.Context, tx *ent.Tx) error {
				return newProject(ctx, tx, w.Globex.ID, "mine")
			},
			"update of another's": func(ctx context.Context, tx *ent.Tx) error {
				return tx.Project.UpdateOneID(theirs.Project.ID).SetName("mine").Exec(ctx)
			},
			"deletion of another's": func(ctx context.Context, tx *ent.Tx) error {
				return tx.Project.DeleteOneID(theirs.Project.ID).Exec(ctx)
			},
			"global row by an organization": func(ctx context.Context, tx *ent.Tx) error {
				return tx.ModuleDefinition.Create().SetID("mod_1").SetName("x").SetType("x").SetSearchText("x").
					SetStatus("ACTIVE").SetCreatedAt(store.Now()).SetUpdatedAt(store.Now()).Exec(ctx)
			},
		} {
			if err := w.Store.Tx(w.Acme.As(actor.Admin), never, write); err == nil {
				t.Errorf("%s: no error", name)
			}
		}
		for name, write := range map[string]func(context.Context, *ent.Tx) (int, error){
			"update": func(ctx context.Context, tx *ent.Tx) (int, error) {
				return tx.Project.Update().SetName("mine").Save(ctx)
			},
			"delete": func(ctx context.Context, tx *ent.Tx) (int, error) { return tx.ModuleInstance.Delete().Exec(ctx) },
		} {
			err := w.Store.Tx(w.Acme.As(actor.Admin), never, func(ctx context.Context, tx *ent.Tx) error {
				n, err := write(ctx, tx)
				if n != 0 {
					t.Errorf("%s of all: reached %d rows of another", name, n)
				}
				return err
			})
			if err != nil {
				t.Errorf("%s of all: %v", name, err)
			}
		}
		if diff := cmp.Diff(before, w.Rows(t)); diff != "" {
			t.Error(diff)
		}
		if p := w.Store.Client.Project.GetX(w.Globex.As(actor.Viewer), theirs.Project.ID); p.Name != "web" {
			t.Errorf("the other's project is called %q now", p.Name)
		}
	})
}

func TestASuperadminWritesWhatIsEverybodysOnlyWhereThatIsNamed(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		root := &actor.Actor{ID: "tok_root", Name: "root", Role: actor.Superadmin}
		write := func(ctx context.Context, tx *ent.Tx) error {
			return tx.ModuleDefinition.Create().SetID("mod_1").SetName("x").SetType("x").SetSearchText("x").
				SetStatus("ACTIVE").SetCreatedAt(store.Now()).SetUpdatedAt(store.Now()).Exec(ctx)
		}
		change := func(ctx context.Context, tx *ent.Tx) error {
			return tx.ModuleDefinition.UpdateOneID("mod_1").SetName("y").Exec(ctx)
		}
		before := w.Rows(t)
		if err := w.Store.Tx(actor.With(t.Context(), root), never, write); err == nil || !cmp.Equal(before, w.Rows(t)) {
			t.Errorf("a forgotten organization writes for everybody: %v", err)
		}
		if err := w.Store.Tx(actor.With(t.Context(), root.InGlobal()), never, write); err != nil {
			t.Error(err)
		}
		for _, a := range []*actor.Actor{root, root.In(w.Acme.ID)} {
			if err := w.Store.Tx(actor.With(t.Context(), a), never, change); err == nil {
				t.Errorf("changed in %q", a.OrganizationID)
			}
		}
	})
}

func TestStrictAndFilterIsolationAnswerAlike(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t))
	strict := worldtest.Another(t, w.DatabaseURL, func(c *store.Config) { c.Isolation = store.Strict })
	acme, globex := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Globex, "web")
	mine, theirs := acme.Succeeded(t), globex.Succeeded(t)
	for name, read := range map[string]func(context.Context, *worldtest.World) (any, error){
		"own": func(ctx context.Context, w *worldtest.World) (any, error) {
			return w.Deploy.View.Deployment(ctx, mine.ID)
		},
		"foreign": func(ctx context.Context, w *worldtest.World) (any, error) {
			return w.Deploy.View.Deployment(ctx, theirs.ID)
		},
		"list": func(ctx context.Context, w *worldtest.World) (any, error) {
			c, err := w.Deploy.View.Deployments(ctx, view.Filter{}, page.Args{})
			return listed(ctx, c, err)
		},
		"lists": func(ctx context.Context, w *worldtest.World) (any, error) {
			c, err := w.Deploy.View.DeploymentsOf(ctx, view.OfInstance, []string{acme.Instance.ID, globex.Instance.ID}, view.Filter{}, page.Args{})
			if err != nil {
				return nil, err
			}
			one, err := listed(ctx, c[acme.Instance.ID], nil)
			two, _ := listed(ctx, c[globex.Instance.ID], nil)
			return []any{one, two}, err
		},
		"catalogue": func(ctx context.Context, w *worldtest.World) (any, error) {
			c, err := w.Catalog.Definitions(ctx, catalog.DefinitionFilter{}, page.Args{})
			return listed(ctx, c, err)
		},
		"organization": func(ctx context.Context, w *worldtest.World) (any, error) { return w.Accounts.Organization(ctx) },
	} {
		for who, ctx := range map[string]context.Context{
			"acme": w.Acme.As(actor.Viewer), "globex": w.Globex.As(actor.Viewer),
			"nobody": actor.With(context.Background(), actor.Anonymous()),
		} {
			if diff := cmp.Diff(told(read(ctx, w)), told(read(ctx, strict))); diff != "" {
				t.Errorf("%s as %s: filter (-) and strict (+) differ:\n%s", name, who, diff)
			}
		}
	}
	// With the filter taken off a single read, strict isolation alone still holds.
	for far, want := range map[*worldtest.World]int{w: 2, strict: 1} {
		got, err := far.Store.Client.Deployment.Query().Order(func(s *sql.Selector) { s.SetP(nil) }).IDs(w.Acme.As(actor.Viewer))
		if len(got) != want || err != nil {
			t.Errorf("without the filter: %q, %v, want %d", got, err, want)
		}
	}
	again, _, err := strict.Deploy.Propose.Rollback(w.Acme.As(actor.Developer), propose.Replay{SourceID: mine.ID})
	if err != nil || again.ReleaseID == nil || *again.ReleaseID != *mine.ReleaseID {
		t.Errorf("write in strict isolation: %v, %v", again, err)
	}
}

// listed is what a caller sees of a page.
func listed[T any](ctx context.Context, c *page.Connection[T], err error) (any, error) {
	if err != nil {
		return nil, err
	}
	n, err := c.TotalCount(ctx)
	return map[string]any{"nodes": c.Nodes(), "info": c.PageInfo, "total": n}, err
}

func told(answer any, err error) string {
	if v := reflect.ValueOf(answer); err != nil && (!v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()) {
		return err.Error()
	}
	text, jsonErr := json.MarshalIndent(answer, "", " ")
	return fmt.Sprint(string(text), err, jsonErr)
}

func TestRowLevelSecurityHoldsWithoutTheFilter(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t))
	mine, theirs := w.Fixture(t, w.Acme, "web").Succeeded(t), w.Fixture(t, w.Globex, "web").Succeeded(t)
	for name, isolation := range map[string]store.Isolation{"filter": store.Filter, "strict": store.Strict} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			far := worldtest.Another(t, w.DatabaseURL, func(c *store.Config) { c.Isolation = isolation })
			ctx := w.Acme.As(actor.Admin)
			for statement, want := range map[string]string{
				`SELECT string_agg(id, ' ') FROM deployments`:                                                                                                                                          mine.ID,
				`SELECT string_agg(DISTINCT organization_id, ' ') FROM audit_events`:                                                                                                                   w.Acme.ID,
				`SELECT string_agg(DISTINCT organization_id, ' ') FROM module_definitions`:                                                                                                             w.Acme.ID,
				`UPDATE deployments SET created_by = 'me' WHERE id = '` + theirs.ID + `' RETURNING id`:                                                                                                 "",
				`UPDATE module_definitions SET name = 'me' RETURNING organization_id`:                                                                                                                  w.Acme.ID,
				`DELETE FROM audit_events WHERE organization_id = '` + w.Globex.ID + `' RETURNING id`:                                                                                                  "",
				`UPDATE projects SET organization_id = '` + w.Globex.ID + `' RETURNING id`:                                                                                                             "refused",
				`INSERT INTO projects (id, created_at, updated_at, name, slug, organization_id) VALUES ('prj_1', now(), now(), 'x', 'x', '` + w.Globex.ID + `') RETURNING id`:                          "refused",
				`WITH "insert_1" AS (INSERT INTO projects (id, created_at, updated_at, name, slug, organization_id) VALUES ('prj_1', now(), now(), 'x', 'x', '` + w.Globex.ID + `')) SELECT 'written'`: "refused",
			} {
				if got := alone(ctx, far.Store, statement); got != want {
					t.Errorf("%s: %q, want %q", statement, got, want)
				}
			}
		})
	}
	if n := w.Store.Client.Deployment.Query().Where(entdeployment.CreatedBy("me")).CountX(w.Globex.As(actor.Viewer)); n != 0 {
		t.Error("another's row was changed")
	}
}

// alone runs a statement in a transaction of the actor's that is rolled back, past the store's own
// filter, and gives its first value.
func alone(ctx context.Context, s *store.Store, statement string) (first string) {
	undo := fmt.Errorf("undo")
	_ = s.Tx(ctx, never, func(ctx context.Context, tx *ent.Tx) error {
		rows, err := tx.QueryContext(ctx, statement)
		if err != nil {
			first = "refused"
			return undo
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			if err := rows.Scan(&first); err != nil {
				first = err.Error()
			}
		}
		if rows.Err() != nil {
			first = "refused"
		}
		return undo
	})
	return first
}
