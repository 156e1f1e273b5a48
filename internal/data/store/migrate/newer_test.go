package migrate_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"slipway/internal/data/store/migrate"
)

// migrations are files of both dialects, named by their versions.
func migrations(texts map[int]string) migrate.Option {
	files := fstest.MapFS{}
	for version, text := range texts {
		for _, dialect := range []string{"sqlite", "postgres"} {
			files[fmt.Sprintf("%s/%d_step.sql", dialect, version)] = &fstest.MapFile{Data: []byte(text), Mode: fs.ModePerm}
		}
	}
	return migrate.Files(files)
}

// The versions of invented migrations.
const (
	version1 = 20260101000000 + iota
	version2
	version3
	version4
)

// step is a migration that makes a table, and says what it is compatible with unless that is 0.
func step(table string, compatibleWith int) string {
	text := "-- +goose Up\n"
	if compatibleWith > 0 {
		text += fmt.Sprintf("-- compatible-with: %d\n", compatibleWith)
	}
	return text + "CREATE TABLE " + table + " (id integer);\n"
}

func TestOlderProgramServesWhatEveryNewerMigrationSaysItMay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		third, fourth int // what these are compatible with
		refuses       string
	}{
		"each compatible":             {third: version1, fourth: version2},
		"the newest is not":           {third: version1, fourth: version3, refuses: "its migration 20260101000003 needs a program that has migration 20260101000002, and the newest of this one is 20260101000001"},
		"the one before it is not":    {third: version3, fourth: version1, refuses: "its migration 20260101000002 needs a program that has migration 20260101000002"},
		"one says nothing":            {third: version1, refuses: "its migration 20260101000003 needs a program that has migration 20260101000003"},
		"the one before says nothing": {fourth: version1, refuses: "its migration 20260101000002 needs a program that has migration 20260101000002"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachEmpty(t, func(t *testing.T, url string, _ int) {
				older := map[int]string{version1: step("a", 0), version2: step("b", version1)}
				newer := map[int]string{version1: older[version1], version2: older[version2], version3: step("c", c.third), version4: step("d", c.fourth)}
				for _, program := range []map[int]string{older, newer} {
					if n, err := migrate.Up(t.Context(), url, migrations(program)); n != 2 || err != nil {
						t.Fatalf("%d applied, %v", n, err)
					}
				}
				_, migrated := migrate.Up(t.Context(), url, migrations(older))
				pending, err := migrate.Pending(t.Context(), url, migrations(older))
				if pending != 0 {
					t.Errorf("%d are pending", pending)
				}
				for call, err := range map[string]error{"migrate": migrated, "pending": err} {
					if c.refuses == "" && err != nil || c.refuses != "" && (!errors.Is(err, migrate.ErrNewer) || !strings.Contains(err.Error(), c.refuses)) {
						t.Errorf("%s: %v, want %q", call, err, c.refuses)
					}
				}
				if _, err := migrate.Up(t.Context(), url, migrations(newer)); err != nil {
					t.Errorf("the newer program: %v", err)
				}
			})
		})
	}
}

func TestMigrationsListsThoseOfANewerProgram(t *testing.T) {
	t.Parallel()
	eachEmpty(t, func(t *testing.T, url string, _ int) {
		older := map[int]string{version1: step("a", 0)}
		newer := map[int]string{version1: older[version1], version2: step("b", version1), version3: step("c", 0)}
		if _, err := migrate.Up(t.Context(), url, migrations(newer)); err != nil {
			t.Fatal(err)
		}
		list, err := migrate.List(t.Context(), url, migrations(older))
		want := []migrate.Migration{
			{Version: version1, Name: "20260101000000_step.sql", Applied: true, CompatibleWith: version1},
			{Version: version2, Applied: true, CompatibleWith: version1},
			{Version: version3, Applied: true, CompatibleWith: version3},
		}
		if err != nil || fmt.Sprint(list) != fmt.Sprint(want) {
			t.Errorf("%v, %v\nwant %v", list, err, want)
		}
	})
}

func TestMigrationBeforeOneThatWasAppliedIsNotAppliedAndToldSo(t *testing.T) {
	t.Parallel()
	eachEmpty(t, func(t *testing.T, url string, _ int) {
		before := map[int]string{version1: step("a", 0), version3: step("c", version1)}
		after := map[int]string{version1: before[version1], version2: step("b", version1), version3: before[version3], version4: step("d", version1)}
		if _, err := migrate.Up(t.Context(), url, migrations(before)); err != nil {
			t.Fatal(err)
		}
		_, migrated := migrate.Up(t.Context(), url, migrations(after))
		_, pending := migrate.Pending(t.Context(), url, migrations(after))
		for call, err := range map[string]error{"migrate": migrated, "pending": pending} {
			if !errors.Is(err, migrate.ErrOutOfOrder) || !strings.Contains(err.Error(), fmt.Sprint(version2)) {
				t.Errorf("%s: %v", call, err)
			}
		}
		list, err := migrate.List(t.Context(), url, migrations(after))
		want := []migrate.Migration{
			{Version: version1, Name: "20260101000000_step.sql", Applied: true, CompatibleWith: version1},
			{Version: version2, Name: "20260101000001_step.sql", OutOfOrder: true, CompatibleWith: version1},
			{Version: version3, Name: "20260101000002_step.sql", Applied: true, CompatibleWith: version1},
			{Version: version4, Name: "20260101000003_step.sql", CompatibleWith: version1},
		}
		if err != nil || fmt.Sprint(list) != fmt.Sprint(want) {
			t.Errorf("%v, %v\nwant %v", list, err, want)
		}
		if n, err := migrate.Up(t.Context(), url, migrations(before)); n != 0 || err != nil {
			t.Errorf("the program that migrated it: %d, %v", n, err)
		}
	})
}

func TestMigrationOfAnotherProgramAmongItsOwnHasToSayThatOneMayServe(t *testing.T) {
	t.Parallel()
	for _, compatibleWith := range []int{0, version1} {
		eachEmpty(t, func(t *testing.T, url string, _ int) {
			own := map[int]string{version1: step("a", 0), version3: step("c", version1)}
			other := map[int]string{version1: own[version1], version2: step("b", compatibleWith), version3: own[version3]}
			if _, err := migrate.Up(t.Context(), url, migrations(other)); err != nil {
				t.Fatal(err)
			}
			list, err := migrate.List(t.Context(), url, migrations(own))
			if err != nil || len(list) != 3 || list[1].Version != version2 || list[1].Name != "" || !list[1].Applied {
				t.Errorf("%v, %v", list, err)
			}
			_, err = migrate.Pending(t.Context(), url, migrations(own))
			if refused := errors.Is(err, migrate.ErrNewer); refused != (compatibleWith == 0) || !refused && err != nil {
				t.Errorf("compatible with %d: %v", compatibleWith, err)
			}
		})
	}
}

func TestMigrationThatFailsSaysNothingOfCompatibility(t *testing.T) {
	t.Parallel()
	eachEmpty(t, func(t *testing.T, url string, _ int) {
		files := map[int]string{version1: step("a", 0), version2: step("a", version1)}
		if n, err := migrate.Up(t.Context(), url, migrations(files)); n != 1 || err == nil {
			t.Fatalf("%d applied, %v", n, err)
		}
		files[version2] = step("b", 0)
		if n, err := migrate.Up(t.Context(), url, migrations(files)); n != 1 || err != nil {
			t.Fatalf("%d applied, %v", n, err)
		}
		if _, err := migrate.Pending(t.Context(), url, migrations(map[int]string{version1: files[version1]})); !errors.Is(err, migrate.ErrNewer) {
			t.Errorf("%v, want the older program to be refused", err)
		}
	})
}
