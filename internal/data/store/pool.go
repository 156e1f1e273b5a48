package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	entsql "entgo.io/ent/dialect/sql"

	"slipway/internal/data/store/pgconn"
)

// pool has the connections to PostgreSQL. Who waits for one waits as long as their context; from then on nothing
// watches it (see pgconn.Unwatched). database/sql starts a goroutine for each transaction and for the rows of each
// statement in it, whatever its context, so a transaction here is a connection that was taken out of the pool.
type pool struct {
	db *sql.DB
	// most is how many connections there may be.
	most int
}

// take takes a connection out of the pool and calls first with it: again, with another, while it finds that the
// connection was closed meanwhile. What first sends must be fit to be sent twice.
func (p pool) take(ctx context.Context, first func(*sql.Conn) error) (*sql.Conn, error) {
	for try := 0; ; try++ {
		conn, err := p.db.Conn(ctx)
		if err != nil {
			return nil, err
		}
		if err = first(conn); err == nil {
			return conn, nil
		}
		_ = giveBack(conn) // what failed is the reason
		if !errors.Is(err, driver.ErrBadConn) || try == p.most {
			return nil, err
		}
	}
}

// giveBack gives a connection back to the pool, which has dropped it already if it was lost.
func giveBack(conn *sql.Conn) error {
	if err := conn.Close(); !errors.Is(err, sql.ErrConnDone) {
		return err
	}
	return nil
}

// query runs a statement that reads, on a connection that is given back with the rows.
func (p pool) query(ctx context.Context, query string, args, v any) error {
	list, isList := args.([]any)
	answer, isRows := v.(*entsql.Rows)
	if !isList || !isRows {
		return fmt.Errorf("store: arguments are %T, rows are %T", args, v)
	}
	var rows *sql.Rows
	conn, err := p.take(ctx, func(conn *sql.Conn) (err error) {
		//nolint:sqlclosecheck,rowserrcheck // the caller's
		rows, err = conn.QueryContext(pgconn.Unwatched(ctx), query, list...)
		return err
	})
	if err != nil {
		return err
	}
	answer.ColumnScanner = pooledRows{rows, conn}
	return nil
}

// pooledRows are rows whose connection is given back when they are closed.
type pooledRows struct {
	*sql.Rows
	conn *sql.Conn
}

// Close implements entsql.ColumnScanner.
func (r pooledRows) Close() error {
	err := r.Rows.Close()
	if end := giveBack(r.conn); err == nil {
		err = end
	}
	return err
}

// begin returns a transaction, which takes a connection and begins with its first statement. In it, first is run before
// (see pgconn.Conn.BeginWith).
func (p pool) begin(ctx context.Context, readOnly bool, first string, args ...string) *pooledTx {
	return &pooledTx{pool: p, ctx: ctx, begin: func(c *pgconn.Conn) error {
		return c.BeginWith(ctx, readOnly, first, args...)
	}}
}

// raw calls f with the connection under one of database/sql.
func raw(conn *sql.Conn, f func(*pgconn.Conn) error) error {
	return conn.Raw(func(c any) error {
		under, ok := c.(*pgconn.Conn)
		if !ok {
			return fmt.Errorf("store: the connection is a %T", c)
		}
		return f(under)
	})
}

// entTx is a transaction as ent has them.
type entTx struct {
	entsql.Conn
	*pooledTx
}

// pooledTx is a transaction on a connection that is given back at its end.
type pooledTx struct {
	pool  pool
	ctx   context.Context // of its begin
	begin func(*pgconn.Conn) error
	// conn is nil until the first statement.
	conn *sql.Conn
	// failed is the error of the first statement. Without it, the next would run in a transaction that lacks the first, or
	// in none.
	failed error
	// commits is set where COMMIT was sent with a statement.
	commits bool
	// answers are those to its statements. One that was not closed would keep the connection.
	answers []*sql.Rows
	ended   bool
}

// run calls f with the connection. With the first, it calls it again with another while it finds that the connection
// was closed meanwhile: of a transaction that had begun there nothing stays.
func (t *pooledTx) run(ctx context.Context, f func(*sql.Conn) error) error {
	switch {
	case t.ended:
		return sql.ErrTxDone
	case t.failed != nil:
		return t.failed
	case t.conn != nil:
		return f(t.conn)
	}

	var failed error
	conn, err := t.pool.take(ctx, func(conn *sql.Conn) error {
		if failed = raw(conn, t.begin); failed == nil {
			failed = f(conn)
		}
		if errors.Is(failed, driver.ErrBadConn) {
			return failed
		}
		return nil // the transaction keeps the connection to its end, failed or not
	})
	t.conn, t.failed = conn, cmp.Or(err, failed)
	return t.failed
}

// began returns the time that the first statement of the transaction has returned; if nothing was sent yet, the
// transaction begins now.
func (t *pooledTx) began() (at time.Time, err error) {
	err = t.run(t.ctx, func(conn *sql.Conn) error {
		return raw(conn, func(c *pgconn.Conn) (err error) {
			at, err = c.Began(t.ctx)
			return err
		})
	})
	return at, err
}

// QueryContext implements entsql.ExecQuerier.
func (t *pooledTx) QueryContext(ctx context.Context, query string, args ...any) (rows *sql.Rows, err error) {
	err = t.run(ctx, func(conn *sql.Conn) (err error) {
		//nolint:sqlclosecheck,rowserrcheck // the caller's
		rows, err = conn.QueryContext(pgconn.Unwatched(ctx), query, args...)
		return err
	})
	if err != nil {
		return nil, err
	}
	t.answers = append(t.answers, rows)
	return rows, nil
}

// ExecContext implements entsql.ExecQuerier.
func (t *pooledTx) ExecContext(ctx context.Context, query string, args ...any) (result sql.Result, err error) {
	err = t.run(ctx, func(conn *sql.Conn) (err error) {
		if err = t.commitWith(ctx); err == nil {
			result, err = conn.ExecContext(pgconn.Unwatched(ctx), query, args...)
		}
		return err
	})
	return result, err
}

// commitWith has COMMIT go with the next statement if the context says that it is the last one. It does not go with
// the first: the transaction holds its lock by then, by which one finds out what has come of a COMMIT (see
// Store.probe).
func (t *pooledTx) commitWith(ctx context.Context) error {
	if !isLast(ctx) || t.conn == nil {
		return nil
	}
	if err := t.ctx.Err(); err != nil {
		return err
	}
	t.commits = true
	return raw(t.conn, func(c *pgconn.Conn) error {
		c.CommitWith()
		return nil
	})
}

// Commit commits, or rolls back and returns the error of the first statement if that has failed, and of the context
// where that has ended before COMMIT was sent.
func (t *pooledTx) Commit() error {
	err := t.failed
	if err == nil && !t.commits {
		err = t.ctx.Err()
	}
	if err != nil && !t.ended {
		return rollBack(t, err)
	}
	return t.end((*pgconn.Conn).Commit)
}

// Rollback rolls back.
func (t *pooledTx) Rollback() error { return t.end((*pgconn.Conn).Rollback) }

func (t *pooledTx) end(how func(*pgconn.Conn) error) error {
	if t.ended {
		return sql.ErrTxDone
	}
	t.ended = true
	if t.conn == nil { // nothing was sent
		return nil
	}
	for _, rows := range t.answers {
		_ = rows.Close() // whose error was that of the statement
	}
	err := raw(t.conn, how)
	if errors.Is(err, sql.ErrConnDone) { // lost by a statement before
		err = driver.ErrBadConn
	}
	if end := giveBack(t.conn); err == nil {
		err = end
	}
	return err
}
