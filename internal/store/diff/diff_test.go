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

	entmigrate "slipway/ent/migrate"
	"slipway/internal/pgtest"
	"slipway/internal/store/diff"
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
			folder := unpacked(t, dialect)
			undo := "-- +goose Up\nDROP INDEX \"deployment_one_active\";\n"
			if err := os.WriteFile(filepath.Join(folder, "20261231000000_undo.sql"), []byte(undo), 0o600); err != nil {
				t.Fatal(err)
			}
			hash(t, folder)
			if err := diff.Write(t.Context(), folder, empty(t), "more"); err != nil {
				t.Fatal(err)
			}
			got := added(t, folder)
			if !strings.Contains(got, "deployment_one_active") || !strings.HasPrefix(got, "-- +goose Up\n") || strings.Contains(got, "Down") {
				t.Errorf("it wrote %q", got)
			}
		})
	}
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

// added is the text of the migration "more".
func added(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_more.sql"))
	if err != nil || len(files) == 0 {
		return ""
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
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
