package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"entgo.io/ent/dialect"
)

// maxPendingArgs bounds the arguments of the INSERTs that are sent as one statement.
const maxPendingArgs = 256

// pendingInserts are the INSERTs that a transaction has not sent yet. A write ends in several (a record, its change,
// its audit row), and a round trip to PostgreSQL takes longer than what an INSERT does there. So they wait until the
// transaction asks the database for something else, or is about to be committed. PostgreSQL gets them as one
// statement; SQLite, which is reached without a round trip, one after the other.
//
// Those into one table are not sent as one: PostgreSQL carries out the INSERTs of a statement in an order of its own,
// in which their rows would get the numbers that it draws.
//
// An INSERT that fails does so when it is sent. A transaction that knew of it at once could do no more than return
// the error, because PostgreSQL takes no further statement from it.
type pendingInserts struct {
	tx      execTx
	dialect string
	list    []insert
	args    int // of all of list
	// failed is the error of an INSERT that was sent.
	failed error
}

// insert is an INSERT with its arguments.
type insert struct {
	text string
	args []any
}

type pendingKey struct{}

// withPending has the transaction that is begun with the context add its INSERTs to p.
func withPending(ctx context.Context, p *pendingInserts) context.Context {
	return context.WithValue(ctx, pendingKey{}, p)
}

// add adds an INSERT.
func (p *pendingInserts) add(ctx context.Context, i insert) error {
	if p.mustPrecede(i) {
		if err := p.send(ctx); err != nil {
			return err
		}
	}
	p.list, p.args = append(p.list, i), p.args+len(i.args)
	return p.failed
}

// sendLast sends all that there are, as the last of the transaction.
func (p *pendingInserts) sendLast(ctx context.Context) error { return p.send(last(ctx)) }

// mustPrecede reports whether what there is cannot be sent together with an INSERT.
func (p *pendingInserts) mustPrecede(next insert) bool {
	return p.args+len(next.args) > maxPendingArgs ||
		slices.ContainsFunc(p.list, func(i insert) bool { return i.table() == next.table() })
}

// table returns the text up to the columns, which names the table.
func (i insert) table() string {
	table, _, _ := strings.Cut(i.text, "(")
	return table
}

// send sends all that there are.
func (p *pendingInserts) send(ctx context.Context) error {
	list := p.list
	p.list, p.args = nil, 0
	if p.dialect == dialect.Postgres && len(list) > 1 {
		list = []insert{join(list)}
	}
	for _, i := range list {
		if p.failed != nil {
			break
		}
		p.failed = p.tx.Exec(ctx, i.text, i.args, nil)
	}
	return p.failed
}

// sendWith sends all that there are, together with an INSERT that returns something if the database can, and
// returns the statement that is left to be run for that.
func (p *pendingInserts) sendWith(ctx context.Context, i insert) (insert, error) {
	if p.dialect != dialect.Postgres || p.failed != nil || p.mustPrecede(i) {
		return i, p.send(ctx)
	}
	list := append(p.list, i)
	p.list, p.args = nil, 0
	return join(list), nil
}

// join returns one statement of PostgreSQL that carries out all the INSERTs, and returns what the last one does.
// Foreign keys between their rows are checked at its end.
func join(list []insert) insert {
	last := len(list) - 1
	if last == 0 {
		return list[0]
	}

	const around = 32 // bytes that a statement takes more than its text
	size, count := 0, 0
	for _, i := range list {
		size, count = size+len(i.text)+around, count+len(i.args)
	}

	var text strings.Builder
	text.Grow(size)
	args := make([]any, 0, count)

	for n, i := range list {
		switch n {
		case last:
			text.WriteString(" ")
		case 0:
			text.WriteString("WITH ")
		default:
			text.WriteString(", ")
		}
		if n < last {
			fmt.Fprintf(&text, `"insert_%d" AS (`, n+1)
		}
		writeShifted(&text, i.text, len(args))
		if n < last {
			text.WriteString(")")
		}
		args = append(args, i.args...)
	}

	return insert{text.String(), args}
}

// writeShifted writes a statement whose parameters count from by + 1 instead of 1. What stands in quotes is no
// parameter.
func writeShifted(b *strings.Builder, text string, by int) {
	written := 0 // of text
	for at, quote := 0, byte(0); at < len(text); at++ {
		c := text[at]

		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '$':
			end := at + 1
			for end < len(text) && '0' <= text[end] && text[end] <= '9' {
				end++
			}
			if n, err := strconv.Atoi(text[at+1 : end]); err == nil {
				b.WriteString(text[written : at+1])
				b.WriteString(strconv.Itoa(n + by))
				written = end
			}
		}
	}
	b.WriteString(text[written:])
}

// insertDriver has the transactions that withPending has asked for add their INSERTs to what is pending.
type insertDriver struct{ dialect.Driver }

func (d insertDriver) BeginTx(ctx context.Context, o *sql.TxOptions) (dialect.Tx, error) {
	tx, err := beginTx(ctx, d.Driver, o)
	p, asked := ctx.Value(pendingKey{}).(*pendingInserts)
	if err != nil || !asked {
		return tx, err
	}
	p.tx, p.dialect = tx, d.Dialect()
	return insertTx{tx, p}, nil
}

// insertTx is a transaction of insertDriver.
type insertTx struct {
	execTx
	pending *pendingInserts
}

func isInsert(query string) bool { return strings.HasPrefix(query, "INSERT ") }

func (t insertTx) Exec(ctx context.Context, query string, args, v any) error {
	if list, ok := args.([]any); ok && v == nil && isInsert(query) {
		return t.pending.add(ctx, insert{query, list})
	}
	if err := t.pending.send(ctx); err != nil {
		return err
	}
	return t.execTx.Exec(ctx, query, args, v)
}

func (t insertTx) Query(ctx context.Context, query string, args, v any) error {
	if list, ok := args.([]any); ok && isInsert(query) {
		i, err := t.pending.sendWith(ctx, insert{query, list})
		if err != nil {
			return err
		}
		return t.execTx.Query(ctx, i.text, i.args, v)
	}
	if err := t.pending.send(ctx); err != nil {
		return err
	}
	return t.execTx.Query(ctx, query, args, v)
}

// QueryContext runs a statement that ent does not write.
func (t insertTx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := t.pending.send(ctx); err != nil {
		return nil, err
	}
	return t.execTx.QueryContext(ctx, query, args...)
}

// ExecContext runs a statement that ent does not write. An INSERT waits as ent's do, and its result is not known.
func (t insertTx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if isInsert(query) {
		return driver.ResultNoRows, t.pending.add(ctx, insert{query, args})
	}
	if err := t.pending.send(ctx); err != nil {
		return nil, err
	}
	return t.execTx.ExecContext(ctx, query, args...)
}
