package lint_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/sqltool"

	entmigrate "slipway/ent/migrate"
	"slipway/internal/data/store/migrate/lint"
)

func TestMigrationsKeepNobodyWaiting(t *testing.T) {
	t.Parallel()
	for dialect, check := range map[string]func([]migrate.File) ([]lint.Problem, error){
		"postgres": lint.Postgres,
		"sqlite":   func(files []migrate.File) ([]lint.Problem, error) { return lint.SQLite(files), nil },
	} {
		names, err := fs.Glob(entmigrate.Files, dialect+"/*.sql")
		if err != nil || len(names) == 0 {
			t.Fatalf("%d migrations, %v", len(names), err)
		}
		var files []migrate.File
		for _, name := range names {
			text, err := fs.ReadFile(entmigrate.Files, name)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file(strings.TrimPrefix(name, dialect+"/"), string(text)))
		}
		problems, err := check(files)
		if err != nil {
			t.Error(err)
		}
		for _, p := range problems {
			t.Errorf("%s: %s", dialect, p)
		}
	}
}

func file(name, text string) migrate.File {
	return &sqltool.GooseFile{LocalFile: migrate.NewLocalFile(name, []byte(text))}
}

// written makes migrations of the statements, the first after one that made the table old.
func written(statements ...string) []migrate.File {
	files := []migrate.File{file("20270101000000_old.sql", "-- +goose Up\n-- compatible-with: 20270101000000\nCREATE TABLE \"old\" (id text);\n")}
	for i, s := range statements {
		head := "-- +goose Up\n"
		if strings.Contains(s, "RESET lock_timeout") || strings.HasPrefix(s, "CREATE INDEX CONCURRENTLY") {
			head = "-- +goose NO TRANSACTION\n" + head
		}
		files = append(files, file(fmt.Sprintf("2027010100000%d_new.sql", i+1), head+"-- compatible-with: 20270101000000\n"+s+"\n"))
	}
	return files
}

func TestMigrationsThatKeepNobodyWaitingAreLetThrough(t *testing.T) {
	t.Parallel()
	for name, statements := range map[string][]string{
		"nullable columns":            {`ALTER TABLE "old" ADD COLUMN "a" text NULL, ADD COLUMN "b" numeric(10,2);`},
		"constant defaults":           {`ALTER TABLE "old" ADD COLUMN "a" text NOT NULL DEFAULT 'x, (y)', ADD COLUMN "b" integer NOT NULL DEFAULT -1, ADD COLUMN "c" boolean NOT NULL DEFAULT false, ADD COLUMN "d" json NOT NULL DEFAULT '{}'::json;`},
		"a default of now":            {`ALTER TABLE old ADD COLUMN a timestamptz NOT NULL DEFAULT now();`},
		"columns of two tables":       {"ALTER TABLE \"old\" ADD COLUMN \"a\" text NULL;\nALTER TABLE \"other\" ADD COLUMN \"a\" text NULL;"},
		"a table with its indexes":    {"-- create it\nCREATE TABLE \"new\" (\"id\" text, PRIMARY KEY (\"id\"), CONSTRAINT \"f\" FOREIGN KEY (\"id\") REFERENCES \"old\" (\"id\"));\nCREATE UNIQUE INDEX \"new_id\" ON \"new\" (\"id\");\nALTER TABLE \"new\" ADD CONSTRAINT \"g\" FOREIGN KEY (\"id\") REFERENCES \"old\" (\"id\");"},
		"an index of its own file":    {"SET lock_timeout = 0;\nCREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS \"i\" ON \"old\" (\"id\") WHERE (id IS NOT NULL);\nRESET lock_timeout;"},
		"an index that goes":          {"SET lock_timeout = 0;\nDROP INDEX CONCURRENTLY IF EXISTS \"i\";\nRESET lock_timeout;", `DROP INDEX "j";`},
		"a foreign key in two files":  {`ALTER TABLE "old" ADD CONSTRAINT "f" FOREIGN KEY ("a") REFERENCES "old" ("id") NOT VALID;`, `ALTER TABLE "old" VALIDATE CONSTRAINT "f";`},
		"not null in three files":     {`ALTER TABLE "old" ADD CONSTRAINT "c" CHECK ("a" IS NOT NULL) NOT VALID;`, `ALTER TABLE "old" VALIDATE CONSTRAINT "c";`, "ALTER TABLE \"old\" ALTER COLUMN \"a\" SET NOT NULL;\nALTER TABLE \"old\" DROP CONSTRAINT \"c\";"},
		"short changes":               {`ALTER TABLE "old" DROP COLUMN "a", ALTER COLUMN "b" DROP NOT NULL, ALTER COLUMN "c" SET DEFAULT gen_random_uuid();`},
		"some rows":                   {`UPDATE "old" SET a = 1 WHERE id = 'x';`, `DELETE FROM old WHERE id = 'x';`},
		"all rows of a new table":     {"CREATE TABLE new (id text);\nUPDATE new SET id = 'x';"},
		"policies in a block of code": {"-- +goose StatementBegin\nDO $$\nBEGIN\n  ALTER TABLE old ENABLE ROW LEVEL SECURITY;\nEND $$;\n-- +goose StatementEnd"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			problems, err := lint.Postgres(written(statements...))
			if err != nil || len(problems) > 0 {
				t.Errorf("%v, %v", problems, err)
			}
		})
	}
}

func TestMigrationsThatKeepServersWaitingAreFoundWithWhatToWriteInstead(t *testing.T) {
	t.Parallel()
	const validate = "NOT VALID, and VALIDATE CONSTRAINT in a file of its own"
	for statement, instead := range map[string]string{
		`CREATE INDEX "i" ON "old" ("a");`:                                                                                `CREATE INDEX CONCURRENTLY IF NOT EXISTS`,
		`CREATE UNIQUE INDEX i ON public.old (a);`:                                                                        `CREATE INDEX CONCURRENTLY IF NOT EXISTS`,
		`DROP INDEX CONCURRENTLY "i";`:                                                                                    "-- +goose NO TRANSACTION",
		`CREATE INDEX CONCURRENTLY IF NOT EXISTS i ON old(a);`:                                                            "as the first statement and RESET lock_timeout; as the last",
		"SET lock_timeout = 0;\nCREATE INDEX CONCURRENTLY \"i\" ON \"old\" (\"a\");\nRESET lock_timeout;":                 `IF NOT EXISTS "…"`,
		"SET lock_timeout = 0;\nALTER TABLE old ADD COLUMN a text;\nRESET lock_timeout;":                                  "a file with a transaction",
		`ALTER TABLE "old" ALTER COLUMN "a" SET NOT NULL;`:                                                                "CHECK (a IS NOT NULL) NOT VALID",
		`ALTER TABLE "old" ALTER COLUMN "a" TYPE bigint;`:                                                                 "another column",
		`ALTER TABLE "old" ADD COLUMN "a" uuid NOT NULL DEFAULT gen_random_uuid();`:                                       "constant default",
		`ALTER TABLE "old" ADD COLUMN "a" xid8 NULL DEFAULT pg_current_xact_id();`:                                        "constant default",
		`ALTER TABLE "old" ADD COLUMN "b" text, ADD COLUMN "a" timestamptz DEFAULT clock_timestamp();`:                    "constant default",
		`ALTER TABLE "old" ADD COLUMN "a" bigint GENERATED BY DEFAULT AS IDENTITY;`:                                       "constant default",
		`ALTER TABLE "old" ADD COLUMN "a" bigserial;`:                                                                     "constant default",
		`ALTER TABLE "old" ADD COLUMN "a" text NOT NULL;`:                                                                 "a nullable column",
		`ALTER TABLE "old" ADD COLUMN "a" text UNIQUE;`:                                                                   "uniqueness as an index",
		`ALTER TABLE "old" ADD CONSTRAINT "f" FOREIGN KEY ("a") REFERENCES "old" ("id");`:                                 validate,
		`ALTER TABLE "old" ADD CONSTRAINT "c" CHECK (a > 0);`:                                                             validate,
		`ALTER TABLE "old" ADD CONSTRAINT "u" UNIQUE ("a");`:                                                              "USING INDEX",
		"ALTER TABLE old ADD CONSTRAINT c CHECK (a > 0) NOT VALID;\nALTER TABLE old VALIDATE CONSTRAINT c;":               "a file of its own",
		`ALTER TABLE old ADD CONSTRAINT c CHECK (a > 0) NOT VALID, VALIDATE CONSTRAINT c;`:                                "a file of its own",
		`UPDATE "old" SET a = 1;`:                                                                                         "few rows",
		`DELETE FROM old;`:                                                                                                "few rows",
		"-- +goose StatementBegin\nDO $$\nBEGIN\n  EXECUTE 'CREATE INDEX i ON old (a)';\nEND $$;\n-- +goose StatementEnd": "one by one",
	} {
		t.Run(statement, func(t *testing.T) {
			t.Parallel()
			problems, err := lint.Postgres(written(statement))
			if err != nil || len(problems) != 1 {
				t.Fatalf("%v, %v, want one problem", problems, err)
			}
			if p := problems[0]; p.File != "20270101000001_new.sql" || !strings.Contains(p.Instead, instead) {
				t.Errorf("%s\nwant %q instead", p, instead)
			}
		})
	}
}

func TestNotNullNeedsTheCheckOfTheSameColumnValidatedBefore(t *testing.T) {
	t.Parallel()
	for name, before := range map[string][]string{
		"of another column": {`ALTER TABLE old ADD CONSTRAINT c CHECK (b IS NOT NULL) NOT VALID;`, `ALTER TABLE old VALIDATE CONSTRAINT c;`},
		"of another table":  {`ALTER TABLE other ADD CONSTRAINT c CHECK (a IS NOT NULL) NOT VALID;`, `ALTER TABLE other VALIDATE CONSTRAINT c;`},
		"not validated":     {`ALTER TABLE old ADD CONSTRAINT c CHECK (a IS NOT NULL) NOT VALID;`},
	} {
		problems, err := lint.Postgres(written(append(before, `ALTER TABLE old ALTER COLUMN a SET NOT NULL;`)...))
		if err != nil || len(problems) != 1 {
			t.Errorf("%s: %v, %v, want one problem", name, problems, err)
		}
	}
}

// PostgreSQL drops what a statement drops before it does anything else of it.
func TestNotNullNeedsTheCheckToBeThereStill(t *testing.T) {
	t.Parallel()
	problems, err := lint.Postgres(written(`ALTER TABLE old ADD CONSTRAINT c CHECK (a IS NOT NULL) NOT VALID;`, `ALTER TABLE old VALIDATE CONSTRAINT c;`,
		`ALTER TABLE old ALTER COLUMN a SET NOT NULL, DROP CONSTRAINT c;`))
	if err != nil || len(problems) != 1 || !strings.Contains(problems[0].Instead, "in a statement after that DROP CONSTRAINT c") {
		t.Errorf("%v, %v, want one problem", problems, err)
	}
}

func TestMigrationHasToSayWhatItIsCompatibleWith(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ line, want string }{
		"the one before":  {"-- compatible-with: 20270101000000", ""},
		"itself":          {"-- compatible-with: 20270101000001", ""},
		"nothing":         {"", "the version of the oldest migration whose program still serves with this one, or 20270101000001 where none does"},
		"no version":      {"-- compatible-with: all", "the version of the oldest migration"},
		"one that is not": {"-- compatible-with: 20260101000000", "the version of one of those before it, or its own, 20270101000001"},
		"a later one":     {"-- compatible-with: 20270101000002", "the version of one of those before it"},
	} {
		files := []migrate.File{
			file("20261122012914_then.sql", "-- +goose Up\nCREATE TABLE a (id text);\n"), // before there was the line
			file("20270101000000_old.sql", "-- +goose Up\n-- compatible-with: 20261122012914\nCREATE TABLE b (id text);\n"),
			file("20270101000001_new.sql", "-- +goose Up\n"+c.line+"\nCREATE TABLE c (id text);\n"),
			file("20270101000002_newer.sql", "-- +goose Up\n-- compatible-with: 20270101000000\nCREATE TABLE d (id text);\n"),
		}
		both := [][]lint.Problem{lint.SQLite(files), nil}
		var err error
		if both[1], err = lint.Postgres(files); err != nil {
			t.Fatal(err)
		}
		for _, problems := range both {
			if c.want == "" && len(problems) == 0 {
				continue
			}
			if len(problems) != 1 || !strings.Contains(problems[0].Instead, c.want) || c.want == "" {
				t.Errorf("%s: %v, want %q", name, problems, c.want)
			}
		}
	}
}
