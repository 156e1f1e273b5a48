// Package lint finds what is wrong with a migration: statements that keep the servers waiting that serve
// beside it, and what older servers are not told. It says what to write instead.
package lint

import (
	"fmt"
	"regexp"
	"strconv"

	"ariga.io/atlas/sql/migrate"

	entmigrate "slipway/ent/migrate"
	"slipway/internal/data/store/migrate/ddl"
)

// Problem is something that is wrong with a migration.
type Problem struct {
	File string
	// Found is the statement, or what there is none of; Why says what it does, Instead what to write.
	Found, Why, Instead string
}

func (p Problem) String() string {
	return fmt.Sprintf("%s: %s\n\t%s\n\tinstead: %s", p.File, p.Found, p.Why, p.Instead)
}

// SQLite returns what is wrong with the migrations of SQLite, all of them in the order of their versions. One
// server has the file, so that no statement has another to keep waiting.
func SQLite(files []migrate.File) []Problem { return checkCompatibility(files) }

// Postgres returns what is wrong with the migrations of PostgreSQL, all of them in the order of their versions.
func Postgres(files []migrate.File) ([]Problem, error) {
	problems := checkCompatibility(files)
	l := linter{notNull: map[constraintName]string{}, validated: map[constraintName]bool{}}
	for _, f := range files {
		texts, err := f.Stmts()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		statements := make([]ddl.Statement, len(texts))
		for i, text := range texts {
			statements[i] = ddl.Parse(text)
		}
		problems = append(problems, l.check(f, statements)...)
	}
	return problems, nil
}

// lastUndeclared is the last migration that may lack the line: programs did not read it then.
const lastUndeclared = 20261122012914

// checkCompatibility checks what each migration declares that it is compatible with.
func checkCompatibility(files []migrate.File) []Problem {
	versions := map[int64]bool{}
	var problems []Problem
	for _, f := range files {
		version, err := strconv.ParseInt(f.Version(), 10, 64)
		versions[version] = err == nil

		with, ok := entmigrate.CompatibleWith(f.Bytes())

		switch {
		case !ok && version > lastUndeclared:
			problems = append(problems, Problem{
				f.Name(), `no line "-- compatible-with: VERSION"`, "older servers are not told whether they may go on",
				fmt.Sprintf("the version of the oldest migration whose program still serves with this one, "+
					"or %d where none does", version),
			})
		case ok && !versions[with]:
			problems = append(problems, Problem{
				f.Name(), fmt.Sprintf("-- compatible-with: %d", with), "there is no such migration before it",
				fmt.Sprintf("the version of one of those before it, or its own, %d", version),
			})
		}
	}

	return problems
}

var noTransaction = regexp.MustCompile(`(?m)^-- \+goose NO TRANSACTION$`)

// linter has what the migrations so far have done.
type linter struct {
	// notNull has the column of each constraint that a column is not null.
	notNull   map[constraintName]string
	validated map[constraintName]bool
}

type constraintName struct{ table, name string }

func (l *linter) check(f migrate.File, statements []ddl.Statement) []Problem {
	problems := checkTx(statements, l)
	if noTransaction.Match(f.Bytes()) {
		problems = checkNoTx(statements)
	}
	for _, s := range statements {
		l.learn(s)
	}
	for i := range problems {
		problems[i].File = f.Name()
	}
	return problems
}

var (
	addNotNull = regexp.MustCompile(`(?i)^ADD CONSTRAINT "?(\w+)"? CHECK \(+"?(\w+)"? IS NOT NULL\)+`)
	validate   = regexp.MustCompile(`(?i)^VALIDATE CONSTRAINT "?(\w+)"?`)
)

// learn records the constraints of a statement.
func (l *linter) learn(s ddl.Statement) {
	for _, clause := range s.Clauses {
		if found := addNotNull.FindStringSubmatch(clause); found != nil {
			l.notNull[constraintName{s.Table, found[1]}] = found[2]
		} else if found := validate.FindStringSubmatch(clause); found != nil {
			l.validated[constraintName{s.Table, found[1]}] = true
		}
	}
}

// knowsNotNull reports whether there is a validated constraint that a column is not null.
func (l *linter) knowsNotNull(table, column string) bool {
	for c, of := range l.notNull {
		if c.table == table && of == column && l.validated[c] {
			return true
		}
	}
	return false
}
