package workspace_test

import (
	"fmt"
	"strconv"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/data/record"
	"slipway/internal/service/workspace"
	"slipway/internal/test/worldtest"
)

// addProjects adds projects to an organization, each a second older than the one before, the newest being n0.
func addProjects(t *testing.T, w *worldtest.World, n int) {
	t.Helper()
	text := `WITH RECURSIVE "i" ("n") AS (SELECT 0 UNION ALL SELECT "n" + 1 FROM "i" WHERE "n" < $1 - 1)
		INSERT INTO "projects" ("id", "created_at", "updated_at", "organization_id", "name", "slug", "search_text")
		SELECT printf('prj_%026d', "n"), datetime('2026-01-02', '-' || "n" || ' seconds') || '+00:00', '2026-01-02 00:00:00+00:00', $2, 'n' || "n", 's' || "n", 'n' || "n" FROM "i"`
	if w.Store.Postgres() {
		text = `INSERT INTO "projects" ("id", "created_at", "updated_at", "organization_id", "name", "slug", "search_text")
			SELECT 'prj_' || lpad("n"::text, 26, '0'), timestamptz '2026-01-02' - "n" * interval '1 second', now(), $2, 'n' || "n", 's' || "n", 'n' || "n"
			FROM generate_series(0, $1 - 1) AS "i" ("n")`
	}
	if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), text, n, w.Acme.ID); err != nil {
		t.Fatal(err)
	}
}

func TestASearchLooksAtTheNewestTenThousandAndPaysForThem(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		search := func(text string) (found, cost, truncated string) {
			t.Helper()
			r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], `query($s: String!) { projects(filter: {search: $s}, first: 1) { totalCount } }`, map[string]any{"s": text})
			if r.At(t, "errors") != nil {
				t.Fatalf("%s", r.Body)
			}
			return fmt.Sprint(r.At(t, "data", "projects", "totalCount")), fmt.Sprint(r.At(t, "extensions", "cost", "used")), fmt.Sprint(r.At(t, "extensions", "truncated"))
		}
		_, none, _ := search("n")
		addProjects(t, w, record.SearchLimit-1)
		if found, cost, truncated := search(fmt.Sprint("n", record.SearchLimit-2)); found != "1" || truncated != "<nil>" {
			t.Errorf("of one less than are searched: %s, truncated %s, at %s", found, truncated, cost)
		}
		for _, name := range []string{"newest", "newer"} {
			if _, err := w.Workspace.CreateProject(w.Acme.As(actor.Admin), workspace.NewProject{Name: name, Slug: name}); err != nil {
				t.Fatal(err)
			}
		}
		oldest := fmt.Sprint("n", record.SearchLimit-2)
		if found, cost, truncated := search(oldest); found != "0" || truncated != "[projects]" {
			t.Errorf("the oldest of more: %s, truncated %s, at %s", found, truncated, cost)
		}
		if found, cost, _ := search("NEW"); found != "2" || cost != "5002" || none != "2" {
			t.Errorf("the newest: %s, at %s, and at %s of none", found, cost, none)
		}
	})
}

func TestACountPaysForWhatItCountsUpToABound(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		count := func() int {
			t.Helper()
			r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], `{ projects(first: 1) { totalCount } }`, nil)
			cost, err := strconv.Atoi(fmt.Sprint(r.At(t, "extensions", "cost", "used")))
			if err != nil {
				t.Fatal(err)
			}
			return cost
		}
		none := count()
		addProjects(t, w, 2_000)
		if cost := count(); cost != none+400 {
			t.Errorf("a count of 2,000 costs %d, and of none %d", cost, none)
		}
		if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), `DELETE FROM "projects"`); err != nil {
			t.Fatal(err)
		}
		addProjects(t, w, 51_000)
		if cost := count(); cost != none+8_000 {
			t.Errorf("a count of 51,000 costs %d, and of none %d", cost, none)
		}
	})
}
