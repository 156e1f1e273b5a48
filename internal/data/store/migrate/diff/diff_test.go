package diff_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/sqltool"
	"github.com/google/go-cmp/cmp"

	entmigrate "slipway/ent/migrate"
	"slipway/internal/data/store/migrate/diff"
	"slipway/internal/test/pgtest"
)

var databases = map[string]func(testing.TB) string{
	"sqlite":   func(testing.TB) string { return "" },
	"postgres": pgtest.URL,
}

func TestMigrationsMakeTheSchema(t *testing.T) {
	t.Parallel()
	for dialect, empty := range databases {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			folder := unpacked(t, dialect)
			if err := diff.Write(t.Context(), folder, empty(t), "more"); !errors.Is(err, migrate.ErrNoPlan) {
				t.Errorf("%v, want no plan; it wrote %s", err, added(t, folder))
			}
		})
	}
}

func TestDiffWritesWhatTheMigrationsLack(t *testing.T) {
	t.Parallel()
	for dialect, empty := range databases {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			folder := undone(t, dialect, `DROP INDEX "deployment_in_progress";`)
			if err := diff.Write(t.Context(), folder, empty(t), "more"); err != nil {
				t.Fatal(err)
			}
			got := added(t, folder)
			if len(got) != 1 || !strings.Contains(got[0], "deployment_in_progress") || !strings.Contains(got[0], "-- +goose Up\n-- compatible-with: 20261121000000\n") ||
				strings.Contains(got[0], "Down") {
				t.Errorf("it wrote %q", got)
			}
		})
	}
}

func TestDiffLocksNoTableForLong(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	folder := undone(t, "postgres", `
DROP INDEX "deployment_lease";
DROP INDEX "deployment_lease_expires_at";
DROP TABLE "idempotency_keys";
ALTER TABLE "deployments" DROP COLUMN "runner";
ALTER TABLE "module_instances" DROP CONSTRAINT "module_instances_projects_project";`)
	if err := diff.Write(t.Context(), folder, url, "more"); err != nil {
		t.Fatal(err)
	}
	const head = "-- +goose Up\n-- compatible-with: 20261121000000\n"
	index := func(unique, text string) string {
		return "-- +goose NO TRANSACTION\n" + head + "SET lock_timeout = 0;\nCREATE " + unique + "INDEX CONCURRENTLY IF NOT EXISTS " + text + ";\nRESET lock_timeout;\n"
	}
	want := []string{
		head + `ALTER TABLE "deployments" ADD COLUMN "runner" character varying NULL;` + "\n",
		head + `CREATE TABLE "idempotency_keys" ("id" character varying NOT NULL, "organization_id" character varying NOT NULL, "actor_id" character varying NOT NULL, "key" character varying NOT NULL, "request_hash" character varying NOT NULL, "deployment_id" character varying NOT NULL, "created_at" timestamptz NOT NULL, PRIMARY KEY ("id"));
CREATE UNIQUE INDEX "idempotency_key_key" ON "idempotency_keys" ("organization_id", "actor_id", "key");
CREATE INDEX "idempotencykey_created_at" ON "idempotency_keys" ("created_at");
`,
		head + `ALTER TABLE "module_instances" ADD CONSTRAINT "module_instances_projects_project" FOREIGN KEY ("project_id") REFERENCES "projects" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION NOT VALID;` + "\n",
		index("UNIQUE ", `"deployment_lease" ON "deployments" ("organization_id", "lease_id")`),
		index("", `"deployment_lease_expires_at" ON "deployments" ("lease_expires_at") WHERE (lease_expires_at IS NOT NULL)`),
		head + `ALTER TABLE "module_instances" VALIDATE CONSTRAINT "module_instances_projects_project";` + "\n",
	}
	if d := cmp.Diff(want, added(t, folder)); d != "" {
		t.Errorf("it wrote (+), want (-):\n%s", d)
	}
	if err := diff.Write(t.Context(), folder, url, "again"); !errors.Is(err, migrate.ErrNoPlan) {
		t.Errorf("after that: %v, want no plan", err)
	}
}

func TestDiffRefusesWhatWouldLockATable(t *testing.T) {
	t.Parallel()
	folder := undone(t, "postgres", `ALTER TABLE "deployments" ALTER COLUMN "created_by" DROP NOT NULL;`)
	err := diff.Write(t.Context(), folder, pgtest.URL(t), "more")
	if err == nil || !strings.Contains(err.Error(), "CHECK (created_by IS NOT NULL) NOT VALID") {
		t.Errorf("%v", err)
	}
	if got := added(t, folder); len(got) > 0 {
		t.Errorf("it wrote %q", got)
	}
}

func TestDiffThatTakesSomethingAwayIsCompatibleWithNoOlderProgram(t *testing.T) {
	t.Parallel()
	for dialect, empty := range databases {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			folder := undone(t, dialect, `ALTER TABLE "tokens" ADD COLUMN "extra" text NULL;`)
			if err := diff.Write(t.Context(), folder, empty(t), "more"); err != nil {
				t.Fatal(err)
			}
			// It comes after the last one, whatever the time is.
			if got := added(t, folder); len(got) != 1 || !strings.Contains(got[0], "-- compatible-with: 20991231000001\n") {
				t.Errorf("it wrote %q", got)
			}
		})
	}
}

// undone returns a folder with the migrations of a dialect and one after them that says that it is compatible
// with the first.
func undone(t *testing.T, dialect, statements string) (folder string) {
	t.Helper()
	folder = unpacked(t, dialect)
	text := "-- +goose Up\n-- compatible-with: 20261121000000\n" + strings.TrimSpace(statements) + "\n"
	if err := os.WriteFile(filepath.Join(folder, "20991231000000_undo.sql"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	hash(t, folder)
	return folder
}

func TestChecksumsAreThoseOfTheMigrations(t *testing.T) {
	t.Parallel()
	for dialect := range databases {
		folder := unpacked(t, dialect)
		dir, err := sqltool.NewGooseDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		if err := migrate.Validate(dir); err != nil {
			t.Errorf("%s: %v", dialect, err)
		}
	}
}

// unpacked copies the migrations of a dialect into a folder of the test's own.
func unpacked(t *testing.T, dialect string) string {
	t.Helper()
	files, err := fs.Sub(entmigrate.Files, dialect)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.CopyFS(folder, files); err != nil {
		t.Fatal(err)
	}
	return folder
}

// added returns the texts of the migrations "more".
func added(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_more.sql"))
	if err != nil {
		t.Fatal(err)
	}
	texts := make([]string, len(files))
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(text)
	}
	return texts
}

func hash(t *testing.T, folder string) {
	t.Helper()
	dir, err := sqltool.NewGooseDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := dir.Checksum()
	if err != nil {
		t.Fatal(err)
	}
	if err := migrate.WriteSumFile(dir, sum); err != nil {
		t.Fatal(err)
	}
}
