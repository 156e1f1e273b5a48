package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/id"
	"slipway/internal/data/store"
	"slipway/internal/test/worldtest"
)

// isPostgres reports whether INSERTs are sent as one statement.
func isPostgres(w *worldtest.World) bool { return strings.HasPrefix(w.DatabaseURL, "postgres") }

// newChange inserts a row whose number the database draws.
func newChange(ctx context.Context, tx *ent.Tx, organizationID string) error {
	return tx.DeploymentChange.Create().SetOrganizationID(organizationID).SetDeploymentID(id.New(id.Deployment)).
		SetVersion(1).SetCreatedAt(store.Now()).Exec(ctx)
}

func TestInsertsAreSentTogether(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ctx := w.Acme.As(actor.Admin)
		insert := func(slug string) func(context.Context, *ent.Tx) error {
			return func(ctx context.Context, tx *ent.Tx) error { return newProject(ctx, tx, w.Acme.ID, slug) }
		}
		count := func(ctx context.Context, tx *ent.Tx) error { return second(tx.Project.Query().Count(ctx)) }
		change := func(ctx context.Context, tx *ent.Tx) error { return newChange(ctx, tx, w.Acme.ID) }
		rename := func(ctx context.Context, tx *ent.Tx) error { return tx.Project.Update().SetName("x").Exec(ctx) }
		raw := func(ctx context.Context, tx *ent.Tx) error {
			return second(tx.ExecContext(ctx, `UPDATE projects SET name = 'y' WHERE organization_id = $1`, w.Acme.ID))
		}
		rawInsert := func(ctx context.Context, tx *ent.Tx) error {
			return second(tx.ExecContext(ctx, `INSERT INTO "deployment_changes" ("organization_id", "deployment_id", "version", "created_at") VALUES ($1, $2, $3, $4)`,
				w.Acme.ID, id.New(id.Deployment), 1, store.Now()))
		}
		for what, c := range map[string]struct {
			steps []func(context.Context, *ent.Tx) error
			// postgres and sqlite are the statements, by their first words.
			postgres, sqlite string
		}{
			"one":            {steps(insert("a")), "INSERT", "INSERT"},
			"two":            {steps(insert("b"), rawInsert), "WITH", "INSERT INSERT"},
			"into one table": {steps(insert("c"), insert("d"), rawInsert, rawInsert), "INSERT WITH INSERT", "INSERT INSERT INSERT INSERT"},
			"before a read":  {steps(insert("e"), rawInsert, count, insert("f")), "WITH SELECT INSERT", "INSERT INSERT SELECT INSERT"},
			"before a write": {steps(insert("g"), rawInsert, rename), "WITH UPDATE", "INSERT INSERT UPDATE"},
			"before other's": {steps(rawInsert, insert("h"), raw), "WITH UPDATE", "INSERT INSERT UPDATE"},
			"with a number":  {steps(insert("i"), change), "WITH", "INSERT INSERT"},
			"numbers":        {steps(insert("j"), change, change), "WITH INSERT", "INSERT INSERT INSERT"},
			"both ways":      {steps(rawInsert, change), "INSERT INSERT", "INSERT INSERT"},
			"a read":         {steps(count), "SELECT", "SELECT"},
		} {
			var got []string
			for _, statement := range w.Statements(func() {
				err := w.Store.Tx(ctx, never, func(ctx context.Context, tx *ent.Tx) error {
					for _, step := range c.steps {
						if err := step(ctx, tx); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}) {
				got = append(got, strings.Fields(statement)[0])
			}
			want := c.sqlite
			if isPostgres(w) {
				want = c.postgres
			}
			if got := strings.Join(got, " "); got != want {
				t.Errorf("%s: %s, want %s", what, got, want)
			}
		}
		if got := slugs(ctx, w.Store.Client); len(got) != 10 {
			t.Errorf("projects %q", got)
		}
	})
}

func steps(list ...func(context.Context, *ent.Tx) error) []func(context.Context, *ent.Tx) error {
	return list
}

func TestATransactionSeesWhatItInserts(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		err := w.Store.Tx(w.Acme.As(actor.Admin), never, func(ctx context.Context, tx *ent.Tx) error {
			for _, slug := range []string{"a", "b", "c"} {
				if err := newProject(ctx, tx, w.Acme.ID, slug); err != nil {
					return err
				}
			}
			if got := tx.Project.Query().CountX(ctx); got != 3 {
				t.Errorf("a query counts %d", got)
			}
			if err := newProject(ctx, tx, w.Acme.ID, "d"); err != nil {
				return err
			}
			n := 0
			rows, err := tx.QueryContext(ctx, `SELECT count(*) FROM projects WHERE organization_id = $1`, w.Acme.ID)
			if err != nil {
				return err
			}
			for rows.Next() {
				err = rows.Scan(&n)
			}
			if n != 4 {
				t.Errorf("another statement counts %d", n)
			}
			return errors.Join(err, rows.Err(), rows.Close())
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestManyInsertsAreSentInParts(t *testing.T) {
	t.Parallel()
	const many = 40
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ctx := w.Acme.As(actor.Admin)
		insert := func(ctx context.Context, tx *ent.Tx, into string, row func(i int) []any) error {
			var rows []string
			var args []any
			for i := range many {
				var places []string
				for _, arg := range row(i) {
					args = append(args, arg)
					places = append(places, fmt.Sprintf("$%d", len(args)))
				}
				rows = append(rows, "("+strings.Join(places, ", ")+")")
			}
			return second(tx.ExecContext(ctx, "INSERT INTO "+into+" VALUES "+strings.Join(rows, ", "), args...))
		}
		most, all := 0, 0
		for _, s := range w.Recorded(func() {
			must(t, w.Store.Tx(ctx, never, func(ctx context.Context, tx *ent.Tx) error {
				return errors.Join(
					insert(ctx, tx, `"projects" ("id", "organization_id", "created_at", "updated_at", "name", "slug")`, func(i int) []any {
						return []any{id.New(id.Project), w.Acme.ID, store.Now(), store.Now(), "p", fmt.Sprintf("p-%03d", i)}
					}),
					insert(ctx, tx, `"deployment_changes" ("organization_id", "deployment_id", "version", "created_at")`, func(int) []any {
						return []any{w.Acme.ID, id.New(id.Deployment), 1, store.Now()}
					}),
				)
			}))
		}) {
			most, all = max(most, len(s.Args)), all+len(s.Args)
		}
		if got, changes := slugs(ctx, w.Store.Client), w.Store.Client.DeploymentChange.Query().CountX(ctx); len(got) != many || changes != many {
			t.Errorf("%d projects and %d changes, want %d of each", len(got), changes, many)
		}
		if most > store.MaxPendingArgs || all <= store.MaxPendingArgs {
			t.Errorf("a statement has %d arguments, all have %d", most, all)
		}
	})
}

func TestNumbersAreDrawnInTheOrderOfTheInserts(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ctx := w.Acme.As(actor.Admin)
		const text = `INSERT INTO "deployment_changes" ("organization_id", "deployment_id", "version", "created_at") VALUES ($1, $2, $3, $4)`
		must(t, w.Store.Tx(ctx, never, func(ctx context.Context, tx *ent.Tx) error {
			for version := range int32(4) {
				if err := second(tx.ExecContext(ctx, text, w.Acme.ID, "dep", version, store.Now())); err != nil {
					return err
				}
			}
			return tx.DeploymentChange.Create().SetOrganizationID(w.Acme.ID).SetDeploymentID("dep").SetVersion(4).SetCreatedAt(store.Now()).Exec(ctx)
		}))
		var got []int32
		for _, c := range w.Store.Client.DeploymentChange.Query().Order(ent.Asc("id")).AllX(ctx) {
			got = append(got, c.Version)
		}
		if !slices.Equal(got, []int32{0, 1, 2, 3, 4}) {
			t.Errorf("by their numbers they are %v", got)
		}
	})
}

func TestAnInsertFailsWhereItIsSent(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ctx := w.Acme.As(actor.Admin)
		twice := func(ctx context.Context, tx *ent.Tx) {
			for range 2 {
				if err := newProject(ctx, tx, w.Acme.ID, "taken"); err != nil {
					t.Errorf("before it was sent: %v", err)
				}
			}
		}
		runs := 0
		for when, f := range map[string]func(ctx context.Context, tx *ent.Tx) error{
			"at the end": func(context.Context, *ent.Tx) error { return nil },
			"at a read":  func(ctx context.Context, tx *ent.Tx) error { return second(tx.Project.Query().All(ctx)) },
			"at a write": func(ctx context.Context, tx *ent.Tx) error { return tx.Project.Update().SetName("x").Exec(ctx) },
			"with a number": func(ctx context.Context, tx *ent.Tx) error {
				return newChange(ctx, tx, w.Acme.ID)
			},
			"where it is ignored": func(ctx context.Context, tx *ent.Tx) error {
				if _, err := tx.Project.Query().All(ctx); !store.IsUniqueViolation(err) {
					t.Errorf("a read: %v", err)
				}
				if _, err := tx.Token.Query().All(ctx); err == nil {
					t.Error("a second read: no error")
				}
				return nil
			},
		} {
			err := w.Store.Tx(ctx, never, func(ctx context.Context, tx *ent.Tx) error {
				runs++
				twice(ctx, tx)
				return f(ctx, tx)
			})
			if !store.IsUniqueViolation(err) {
				t.Errorf("%s: %v, want the unique violation", when, err)
			}
		}
		if got := slugs(ctx, w.Store.Client); len(got) != 0 || runs != 5 {
			t.Errorf("projects %q after %d runs", got, runs)
		}
		// What a function is refused for goes before what it has not sent.
		refused := errors.New("refused")
		err := w.Store.Tx(ctx, never, func(ctx context.Context, tx *ent.Tx) error {
			twice(ctx, tx)
			return refused
		})
		if !errors.Is(err, refused) || store.IsUniqueViolation(err) {
			t.Errorf("%v, want what the function returned", err)
		}
	})
}

func TestTextThatLooksLikeAStatementIsStoredAsItIs(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ctx := w.Acme.As(actor.Admin)
		var want []string
		err := w.Store.Tx(ctx, never, func(ctx context.Context, tx *ent.Tx) error {
			want = nil
			for i, name := range []string{`$1`, `'$2'`, `"$3`, `'); DELETE FROM projects; --`, `) INSERT INTO "x" ($9)`, "$$\n$4$$", "\u202e$5"} {
				want = append(want, name)
				err := tx.Project.Create().SetID(id.New(id.Project)).SetOrganizationID(w.Acme.ID).
					SetCreatedAt(store.Now()).SetUpdatedAt(store.Now()).SetName(name).SetSlug(fmt.Sprint(i)).Exec(ctx)
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range w.Store.Client.Project.Query().Order(ent.Asc("slug")).AllX(ctx) {
			got = append(got, p.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestJoinedParametersAreNumberedThrough(t *testing.T) {
	t.Parallel()
	got, args := store.JoinInserts(
		store.Insert(`INSERT INTO "a" ("x", "y") VALUES ($1, $2)`, 1, 2),
		store.Insert(`INSERT INTO "b$1" ("x") VALUES ($1, '$1', 'it''s $1', $12, $)`, 3),
		store.Insert(`INSERT INTO "c" ("x") VALUES ($1) RETURNING "id"`, 4),
	)
	const want = `WITH "insert_1" AS (INSERT INTO "a" ("x", "y") VALUES ($1, $2)), ` +
		`"insert_2" AS (INSERT INTO "b$1" ("x") VALUES ($3, '$1', 'it''s $1', $14, $)) ` +
		`INSERT INTO "c" ("x") VALUES ($4) RETURNING "id"`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if diff := cmp.Diff([]any{1, 2, 3, 4}, args); diff != "" {
		t.Error(diff)
	}
}
