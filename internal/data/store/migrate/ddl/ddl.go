// Package ddl parses as much of PostgreSQL's statements as it takes to know what they do to a table.
package ddl

import (
	"regexp"
	"strings"
)

// Statement is one statement of a migration.
type Statement struct {
	// Text is the statement on one line, without comments and the semicolon.
	Text string
	// Table is the one that is made, altered or changed, or that an index is of; empty for other statements.
	Table string

	CreatesTable bool
	// Index is the index that is made. Concurrently and IfNotExists say how.
	Index                     string
	Concurrently, IfNotExists bool
	// Clauses are those of ALTER TABLE.
	Clauses []string
}

const name = `(?:"?\w+"?\.)?"?(\w+)"?`

var (
	comment     = regexp.MustCompile(`(?m)^\s*--.*$`)
	createTable = regexp.MustCompile(`(?i)^CREATE TABLE (?:IF NOT EXISTS )?` + name)
	createIndex = regexp.MustCompile(`(?i)^CREATE (?:UNIQUE )?INDEX (CONCURRENTLY )?(IF NOT EXISTS )?` + name +
		` ON (?:ONLY )?` + name)
	alterTable = regexp.MustCompile(`(?i)^ALTER TABLE (?:IF EXISTS )?(?:ONLY )?` + name + ` (.*)$`)
	changeRows = regexp.MustCompile(`(?i)^(?:UPDATE|DELETE FROM) (?:ONLY )?` + name)
)

// Parse parses a statement. What it does not know it leaves out.
func Parse(text string) Statement {
	s := Statement{Text: strings.TrimSuffix(strings.Join(strings.Fields(comment.ReplaceAllString(text, "")), " "), ";")}
	if found := createTable.FindStringSubmatch(s.Text); found != nil {
		s.Table, s.CreatesTable = found[1], true
	} else if found := createIndex.FindStringSubmatch(s.Text); found != nil {
		s.Concurrently, s.IfNotExists, s.Index, s.Table = found[1] != "", found[2] != "", found[3], found[4]
	} else if found := alterTable.FindStringSubmatch(s.Text); found != nil {
		s.Table, s.Clauses = found[1], split(found[2])
	} else if found := changeRows.FindStringSubmatch(s.Text); found != nil {
		s.Table = found[1]
	}
	return s
}

// split cuts a text at its commas, except those within brackets and quotes.
func split(text string) []string {
	var parts []string
	depth, quote, begin := 0, rune(0), 0

	for i, c := range text {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			parts = append(parts, strings.TrimSpace(text[begin:i]))
			begin = i + 1
		}
	}

	return append(parts, strings.TrimSpace(text[begin:]))
}
