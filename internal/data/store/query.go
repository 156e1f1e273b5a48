package store

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/lib/pq"

	"slipway/ent"
)

// Rows are the rows of a statement; Scan reads the columns of the present one.
type Rows interface{ Scan(columns ...any) error }

// Query runs a statement that reads, with the retries, the limits and the errors of the Client's own, and calls scan
// for each row. The tenancy filter does not see it: its text has to bind it to the Scope of the actor.
func (s *Store) Query(ctx context.Context, query string, args []any, scan func(Rows) error) (err error) {
	var rows entsql.Rows
	if err := s.reader.Query(ctx, query, args, &rows); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Reader runs a statement that reads and calls scan for each row: the Query of a Store, or that of a transaction. Code
// in a transaction reads in it: if it waited for a second connection, it might wait for others that do the same.
type Reader func(ctx context.Context, query string, args []any, scan func(Rows) error) error

// InTx returns the Reader of a transaction.
func InTx(tx *ent.Tx) Reader {
	return func(ctx context.Context, query string, args []any, scan func(Rows) error) (err error) {
		rows, err := tx.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, rows.Close()) }()
		for rows.Next() {
			if err := scan(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	}
}

// Postgres reports whether the database is PostgreSQL, and not SQLite.
func (s *Store) Postgres() bool { return s.dialect == dialect.Postgres }

// List returns a list of texts as one argument: of PostgreSQL's = ANY (?), or of SQLite's json_each(?). So the text of
// a statement does not depend on how many there are.
func (s *Store) List(texts []string) any {
	if s.Postgres() {
		if array, err := pq.StringArray(texts).Value(); err == nil && array != nil {
			return array
		}
		return "{}"
	}
	list, err := json.Marshal(texts)
	if err != nil || texts == nil {
		return "[]" // texts always encode
	}
	return string(list)
}

// Among returns the condition that a column has one of the texts of $1, a List, and another one the organization of $2.
func Among(column, organizationColumn string, postgres bool) string {
	if postgres {
		return column + ` = ANY ($1) AND ` + organizationColumn + ` = $2`
	}
	return column + ` IN (SELECT "value" FROM json_each($1)) AND ` +
		strings.Replace(Owner(organizationColumn, false), "?", "$2", 1)
}
