package diff

import (
	"fmt"
	"regexp"
	"strings"

	"slipway/internal/data/store/migrate/ddl"
)

// step is what one migration does.
type step struct {
	statements []string
	// lock is the table that is altered or the index that is built, "" for none; a file has one.
	lock          string
	noTransaction bool
}

func (s step) text(compatibleWith string) string {
	var b strings.Builder
	if s.noTransaction {
		b.WriteString("-- +goose NO TRANSACTION\n")
	}
	fmt.Fprintf(&b, "-- +goose Up\n-- compatible-with: %s\n", compatibleWith)
	for _, statement := range s.statements {
		b.WriteString(statement + ";\n")
	}
	return b.String()
}

var (
	buildIndex    = regexp.MustCompile(`^CREATE (UNIQUE )?INDEX `)
	addForeignKey = regexp.MustCompile(`^ADD CONSTRAINT ("\w+") FOREIGN KEY`)
)

// postgresSteps cuts statements into steps of which each locks one table that others use, and that only for a
// moment: indexes are built concurrently, and foreign keys are validated after they were added.
func postgresSteps(statements []string) []step {
	var steps, after []step
	made := map[string]bool{}
	for _, text := range statements {
		s := ddl.Parse(text)
		made[s.Table] = made[s.Table] || s.CreatesTable
		switch {
		case made[s.Table] || s.Index == "" && len(s.Clauses) == 0:
			steps = appendStep(steps, step{statements: []string{text}})
		case s.Index != "":
			after = append(after, indexStep(s.Index, text))
		default:
			altered, validations := alterSteps(s, text)
			steps, after = appendStep(steps, altered), append(after, validations...)
		}
	}
	return append(steps, after...)
}

// appendStep appends a step, to the last one if both may be in one file.
func appendStep(steps []step, s step) []step {
	if n := len(steps); n > 0 && steps[n-1].lock == s.lock {
		steps[n-1].statements = append(steps[n-1].statements, s.statements...)
		return steps
	}
	return append(steps, s)
}

func indexStep(index, text string) step {
	return step{lock: index, noTransaction: true, statements: []string{
		"SET lock_timeout = 0",
		buildIndex.ReplaceAllString(text, "CREATE ${1}INDEX CONCURRENTLY IF NOT EXISTS "),
		"RESET lock_timeout",
	}}
}

// alterSteps returns the step that alters a table and those that validate its foreign keys.
func alterSteps(s ddl.Statement, text string) (altered step, validations []step) {
	for i, clause := range s.Clauses {
		if found := addForeignKey.FindStringSubmatch(clause); found != nil {
			s.Clauses[i] += " NOT VALID"
			validate := fmt.Sprintf("ALTER TABLE %q VALIDATE CONSTRAINT %s", s.Table, found[1])
			validations = append(validations, step{lock: found[1], statements: []string{validate}})
		}
	}
	if len(validations) > 0 {
		text = fmt.Sprintf("ALTER TABLE %q %s", s.Table, strings.Join(s.Clauses, ", "))
	}
	return step{lock: s.Table, statements: []string{text}}, validations
}
