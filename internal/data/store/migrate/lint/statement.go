package lint

import (
	"regexp"
	"slices"
	"strings"

	"slipway/internal/data/store/migrate/ddl"
)

const (
	ownFile = "a file of its own with the line -- +goose NO TRANSACTION, and in it SET lock_timeout = 0; " +
		`CREATE INDEX CONCURRENTLY IF NOT EXISTS "…"; RESET lock_timeout;`
	scans = "it reads the whole table, and keeps every writer waiting meanwhile"
)

// checkTx checks a file that runs in a transaction: what a statement locks stays locked until the
// last one is done.
func checkTx(statements []ddl.Statement, known *linter) []Problem {
	made, alters := tablesOf(statements)
	var problems []Problem
	for _, s := range statements {
		if made[s.Table] {
			continue // nobody uses it yet
		}
		if p := checkStatement(s); p != nil {
			problems = append(problems, *p)
		}
		problems = append(problems, checkClauses(s, alters, known)...)
	}
	return problems
}

// tablesOf returns the tables that a file makes, and whether it alters others that were there before.
func tablesOf(statements []ddl.Statement) (made map[string]bool, alters bool) {
	made = map[string]bool{}
	for _, s := range statements {
		made[s.Table] = made[s.Table] || s.CreatesTable
		changes := slices.ContainsFunc(s.Clauses, func(c string) bool { return !validate.MatchString(c) })
		alters = alters || changes && !made[s.Table]
	}
	return made, alters
}

// checkClauses checks the clauses of an ALTER TABLE on a table that was there before; alters is whether the file alters
// such tables.
func checkClauses(s ddl.Statement, alters bool, known *linter) (problems []Problem) {
	for _, clause := range s.Clauses {
		p := checkClause(s, clause, known)
		if p == nil && alters && validate.MatchString(clause) {
			p = &Problem{
				Why:     "what the file's other statements have locked stays locked until it is done",
				Instead: "a file of its own, after that one",
			}
		}
		if p != nil {
			p.Found = "ALTER TABLE " + s.Table + " " + clause
			problems = append(problems, *p)
		}
	}
	return problems
}

var (
	concurrently = regexp.MustCompile(`(?i)\bCONCURRENTLY\b`)
	condition    = regexp.MustCompile(`(?i)\bWHERE\b`)
	changesRows  = regexp.MustCompile(`(?i)^(UPDATE|DELETE)\b`)
	hidden       = regexp.MustCompile(`(?i)^DO\b.*\b` +
		`(CREATE (UNIQUE )?INDEX|ADD (CONSTRAINT|COLUMN)|ALTER COLUMN|VALIDATE CONSTRAINT)\b`)
)

// checkStatement checks a statement on a table that was there before.
func checkStatement(s ddl.Statement) *Problem {
	switch {
	case concurrently.MatchString(s.Text):
		return &Problem{Found: s.Text, Why: "PostgreSQL does not do this in a transaction", Instead: ownFile}
	case s.Index != "":
		return &Problem{
			Found:   s.Text,
			Why:     "it keeps every writer of " + s.Table + " waiting until the index is built",
			Instead: ownFile,
		}
	case changesRows.MatchString(s.Text) && !condition.MatchString(s.Text):
		return &Problem{
			Found: s.Text, Why: "it keeps whoever writes one of the rows waiting until all are written",
			Instead: "a column with a constant default, or a condition (WHERE) that few rows meet",
		}
	case hidden.MatchString(s.Text):
		return &Problem{
			Found:   s.Text,
			Why:     "what is in a block of DO is not checked",
			Instead: "the statements of a block that alter a table, one by one",
		}
	}

	return nil
}

// checkNoTx checks a file whose statements are committed one by one: it runs again from its first
// statement when it was broken off.
func checkNoTx(statements []ddl.Statement) []Problem {
	const (
		unlimited = "SET lock_timeout = 0"
		limited   = "RESET lock_timeout"
	)

	var problems []Problem

	last := len(statements) - 1
	if last < 1 || statements[0].Text != unlimited || statements[last].Text != limited {
		problems = append(problems, Problem{
			Found:   "-- +goose NO TRANSACTION",
			Why:     "the build of an index waits for transactions longer than a migration may wait for a lock",
			Instead: unlimited + "; as the first statement and " + limited + "; as the last",
		})
	}

	for _, s := range statements {
		switch {
		case s.Text == unlimited, s.Text == limited, s.Index != "" && s.Concurrently && s.IfNotExists,
			strings.HasPrefix(s.Text, "DROP INDEX CONCURRENTLY IF EXISTS "):
		case s.Index != "":
			problems = append(problems, Problem{
				Found: s.Text, Why: "it locks the table, or fails when the file runs again", Instead: ownFile,
			})
		default:
			problems = append(problems, Problem{
				Found: s.Text, Why: "a file that is broken off runs again from its first statement",
				Instead: "a file with a transaction; one without builds and drops indexes, and nothing else",
			})
		}
	}

	return problems
}
