// Package pgconn is lib/pq's connection to PostgreSQL as the store needs it under database/sql.
//
// Statements: a text that comes a second time is prepared, so that the server parses and plans it once; running it
// takes one round trip. A connection keeps as many as it may, those that were used last, and is right after a
// migration: what the server refuses to run as it was prepared is forgotten and run anew.
//
// Answers are read ahead, so that a query fails before its first row and can be run again.
//
// Settings: what is sent for the session when a connection is made is read back once, because a pooler may drop it.
//
// Time: no goroutine watches the context of a statement. Deadlines on the wire bound it, and the server's own
// statement_timeout.
//
// Round trips: BeginWith has a transaction begin, with what has to be set in it, together with its first statement, and
// CommitWith has it end together with its last.
package pgconn

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// conn is what a connection of lib/pq can do. It is its own transaction.
type conn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
	driver.Tx
	driver.Validator
}

// Conn is a connection. As database/sql has it, no two of its methods run at once.
type Conn struct {
	conn
	wire       *wire
	pipeline   *pipeline
	statements statements
	// deallocate is set if the server has statements prepared that were forgotten here. They go once the transaction
	// has ended, for one that has failed runs nothing more.
	deallocate bool
	// inTx is true from when the begin of a transaction is asked for until its end is.
	inTx bool
	// broken is set if the state of the session is unknown.
	broken bool
	// reading are rows that are not read to their end.
	reading *rows
	// row is what the next row is read into, and spare what the next answer is kept in.
	row   []driver.Value
	spare buffer
}

// Connect connects by a connector that has Dialer. It returns a SettingsError if one of the settings that the connector
// sends is not in force.
func Connect(ctx context.Context, connector *pq.Connector, cache Cache, sent []Setting) (*Conn, error) {
	c := &Conn{}
	made, err := connector.Connect(context.WithValue(ctx, wireKey{}, &c.wire))
	if err != nil {
		return nil, err
	}

	var ok bool
	if c.conn, ok = made.(conn); !ok || c.wire == nil {
		return nil, errors.Join(fmt.Errorf("pgconn: lib/pq's connection is a %T over %T", made, c.wire), made.Close())
	}
	if c.pipeline, err = newPipeline(made); err != nil {
		return nil, errors.Join(err, made.Close())
	}

	found, err := askSession(ctx, c, sent)
	if err != nil {
		return nil, errors.Join(err, made.Close())
	}

	capacity := cache.Capacity
	if capacity > 0 && cache.Detect && !c.isDirect(found.process) {
		cache.OnPooler()
		capacity = 0
	}

	c.statements = newStatements(capacity, cache.OnLookup)
	if capacity <= 0 {
		c.pipeline.names = nil
	}
	return c, nil
}

// Unwatched returns a context with the values, the deadline and the error of another, which nobody can wait for:
// database/sql and lib/pq start a goroutine for each statement whose context can be canceled. A statement is not
// begun after the end of the other, and ends by the other's deadline.
func Unwatched(ctx context.Context) context.Context { return unwatched{ctx} }

type unwatched struct{ context.Context }

// Done implements context.Context.
func (unwatched) Done() <-chan struct{} { return nil }

// ErrStandby is wrapped by the error of a transaction that writes, on a server that recovers or follows another.
// PostgreSQL's own text says no more than that this is not supported.
var ErrStandby = errors.New("the server is a standby, which takes no writes")

// errReading is returned for a statement that is sent while the answer to another is being read.
var errReading = errors.New("pgconn: the rows of another statement are not read to their end")

// ready makes the connection ready to send something, or returns why it is not to be sent.
func (c *Conn) ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.reading != nil {
		return errReading
	}
	c.wire.until, _ = ctx.Deadline()
	if c.deallocate && !c.inTx {
		c.deallocate = false
		clear(c.pipeline.names)
		_, err := c.conn.ExecContext(context.Background(), "DEALLOCATE ALL", nil)
		return err
	}
	return nil
}

// QueryContext implements driver.QueryerContext.
func (c *Conn) QueryContext(
	ctx context.Context, query string, args []driver.NamedValue,
) (answer driver.Rows, err error) {
	err = c.run(ctx, query, args, func(prepared driver.Stmt) error {
		var found driver.Rows
		if s, ok := prepared.(driver.StmtQueryContext); ok {
			found, err = s.QueryContext(context.Background(), args)
		} else {
			found, err = c.conn.QueryContext(context.Background(), query, args)
		}
		if err != nil {
			return err
		}
		answer, err = c.read(found)
		return err
	})
	return answer, err
}

// ExecContext implements driver.ExecerContext.
func (c *Conn) ExecContext(
	ctx context.Context, query string, args []driver.NamedValue,
) (result driver.Result, err error) {
	err = c.run(ctx, query, args, func(prepared driver.Stmt) error {
		if s, ok := prepared.(driver.StmtExecContext); ok {
			result, err = s.ExecContext(context.Background(), args)
		} else {
			result, err = c.conn.ExecContext(context.Background(), query, args)
		}
		return err
	})
	return result, err
}

// BeginWith has a transaction begin with the next statement, in one round trip. A first statement, which has arguments,
// is run in it before, and returns one row that begins with a time (see Began). It is prepared when it comes for the
// first time, so there should be few texts of it. A begin that is refused is the error of the next statement:
// ErrStandby if the server takes no writes.
func (c *Conn) BeginWith(ctx context.Context, readOnly bool, first string, args ...string) error {
	if err := c.ready(ctx); err != nil {
		return err
	}
	if len(args) == 0 {
		return errors.New("pgconn: the first statement of a transaction has no arguments")
	}
	mode := "BEGIN READ WRITE"
	if readOnly {
		mode = "BEGIN READ ONLY"
	}
	c.pipeline.begin, c.pipeline.began = &begin{mode: mode, first: first, args: args}, time.Time{}
	c.inTx = true
	return nil
}

// Began returns the time that the first statement of the transaction has returned. If nothing was sent yet, the
// transaction begins now.
func (c *Conn) Began(ctx context.Context) (time.Time, error) {
	if at := c.pipeline.began; !at.IsZero() {
		return at, nil
	}
	if err := c.ready(ctx); err != nil {
		return time.Time{}, err
	}
	err := c.beginAlone(ctx)
	return c.pipeline.began, err
}

// beginAlone begins the transaction that is still to begin, if one is: BEGIN goes with the first statement.
func (c *Conn) beginAlone(ctx context.Context) error {
	if c.pipeline.begin == nil {
		return nil
	}

	first, args := c.pipeline.begin.first, make([]driver.NamedValue, len(c.pipeline.begin.args))
	for i, arg := range c.pipeline.begin.args {
		args[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	c.pipeline.begin.first = ""
	found, err := c.QueryContext(ctx, first, args)
	if err != nil {
		return err
	}

	row := make([]driver.Value, len(found.Columns()))
	if err := errors.Join(found.Next(row), found.Close()); err != nil {
		return c.notBegun(err)
	}

	var ok bool
	if c.pipeline.began, ok = row[0].(time.Time); !ok {
		return fmt.Errorf("pgconn: a transaction began at %v, which is no time", row[0])
	}
	return nil
}

// notBegun returns the error of a begin.
func (c *Conn) notBegun(err error) error {
	c.inTx = false
	if pq.As(err, pqerror.FeatureNotSupported) != nil {
		return fmt.Errorf("%w: %w", ErrStandby, err)
	}
	c.broken = true
	return err
}

// CommitWith has the transaction commit right after the next statement with arguments, in one round trip. If that
// statement fails, the transaction is rolled back. Commit or Rollback, which the caller calls next, reads the outcome.
// Until then nothing tells whether a statement whose answer was lost was committed.
func (c *Conn) CommitWith() { c.pipeline.commit = true }

// BeginTx implements driver.ConnBeginTx.
func (c *Conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if err := c.ready(ctx); err != nil {
		return nil, err
	}
	if _, err := c.conn.BeginTx(context.Background(), o); err != nil {
		return nil, err
	}
	c.inTx = true
	return c, nil
}

// Commit implements driver.Tx.
func (c *Conn) Commit() error { return c.end(c.conn.Commit) }

// Rollback implements driver.Tx.
func (c *Conn) Rollback() error { return c.end(c.conn.Rollback) }

// end ends a transaction, which may not have begun. It has the time that the wire gives it: to know whether a COMMIT
// was carried out is worth more than the deadline of whoever waits for it.
func (c *Conn) end(how func() error) error {
	if c.reading != nil {
		return errReading
	}
	begun := c.inTx && c.pipeline.begin == nil
	c.inTx, c.pipeline.begin, c.pipeline.commit = false, nil, false
	if !begun {
		return nil
	}
	c.wire.until = time.Time{}
	return how()
}

// Close implements driver.Conn. That the deadline of the last statement is over is no reason not to take leave.
func (c *Conn) Close() error {
	c.wire.until = time.Time{}
	return c.conn.Close()
}

// Ping implements driver.Pinger.
func (c *Conn) Ping(ctx context.Context) error {
	if err := c.ready(ctx); err != nil {
		return err
	}
	return c.conn.Ping(context.Background())
}

// ResetSession implements driver.SessionResetter.
func (c *Conn) ResetSession(ctx context.Context) error {
	if !c.IsValid() {
		return driver.ErrBadConn
	}
	return c.conn.ResetSession(ctx)
}

// IsValid implements driver.Validator.
func (c *Conn) IsValid() bool {
	return !c.broken && !c.inTx && c.reading == nil && c.conn.IsValid()
}
