package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"modernc.org/sqlite"
)

const (
	// maxPrepared is how many statements a connection keeps; each takes some kilobytes.
	maxPrepared = 64
	// maxPreparedText is the longest text of a statement that is kept, in bytes.
	maxPreparedText = 16 << 10
)

// preparedConnector opens connections to a SQLite file that keep the statements they have prepared, because
// preparing one takes about as long as running it. SQLite prepares a statement again by itself if the schema
// has changed since.
type preparedConnector struct {
	driver.Connector
	lookups *lookups
}

// newPreparedConnector returns a connector for a name of sqlitefile.DSN.
func newPreparedConnector(dsn string, found *lookups) (preparedConnector, error) {
	c, err := sqlite.NewConnector(dsn)
	return preparedConnector{c, found}, err
}

// Connect implements driver.Connector.
func (c preparedConnector) Connect(ctx context.Context) (driver.Conn, error) { return c.connect(ctx) }

func (c preparedConnector) connect(ctx context.Context) (*preparedConn, error) {
	raw, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn, ok := raw.(sqliteConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("store: SQLite's connection is a %T", raw), raw.Close())
	}
	idle, err := simplelru.NewLRU[string, sqliteStmt](maxPrepared, nil)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &preparedConn{conn, idle, c.lookups}, nil
}

// sqliteConn is what a connection of SQLite can do.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
	sqlite.HookRegisterer
}

// sqliteStmt is what a statement of SQLite can do.
type sqliteStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// preparedConn is a connection that keeps the statements it has prepared. One that runs is not among them, so that
// another of the same text can run meanwhile.
type preparedConn struct {
	sqliteConn
	idle    *simplelru.LRU[string, sqliteStmt]
	lookups *lookups
}

// ExecContext implements driver.ExecerContext.
func (c *preparedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if !isKept(query) {
		return c.sqliteConn.ExecContext(ctx, query, args)
	}
	s, err := c.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	result, err := s.ExecContext(ctx, args)
	if err != nil {
		return nil, discard(s, err)
	}
	return result, c.keep(query, s)
}

// QueryContext implements driver.QueryerContext.
func (c *preparedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if !isKept(query) {
		return c.sqliteConn.QueryContext(ctx, query, args)
	}
	s, err := c.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	rows, err := s.QueryContext(ctx, args)
	if err != nil {
		return nil, discard(s, err)
	}
	return &preparedRows{rows, c, query, s}, nil
}

// Close implements driver.Conn. A statement that were left would keep the file open.
func (c *preparedConn) Close() error {
	var err error
	for _, s := range c.idle.Values() {
		err = errors.Join(err, s.Close())
	}
	c.idle.Purge()
	return errors.Join(err, c.sqliteConn.Close())
}

// isKept reports whether a statement is to be kept: one that comes again and again.
func isKept(query string) bool {
	if len(query) > maxPreparedText {
		return false
	}
	verb, _, _ := strings.Cut(query, " ")
	switch verb {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "SAVEPOINT", "RELEASE", "ROLLBACK":
		return true
	}
	return false
}

// prepare returns a statement that was kept, or a new one.
func (c *preparedConn) prepare(ctx context.Context, query string) (sqliteStmt, error) {
	s, wasKept := c.idle.Get(query)
	c.lookups.add(wasKept)
	if wasKept {
		c.idle.Remove(query)
		return s, nil
	}
	raw, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s, ok := raw.(sqliteStmt)
	if !ok {
		return nil, discard(raw, fmt.Errorf("store: SQLite's statement is a %T", raw))
	}
	return s, nil
}

// keep keeps a statement that has run, instead of the one that has been idle for longest if there are too many.
func (c *preparedConn) keep(query string, s sqliteStmt) error {
	if c.idle.Contains(query) {
		return s.Close()
	}
	var err error
	if c.idle.Len() == maxPrepared {
		_, oldest, _ := c.idle.RemoveOldest()
		err = oldest.Close()
	}
	c.idle.Add(query, s)
	return err
}

// discard closes a statement that has failed with err. Closing only says the same once more.
func discard(s driver.Stmt, err error) error {
	_ = s.Close()
	return err
}

// preparedRows are rows whose statement is kept when they are closed.
type preparedRows struct {
	driver.Rows
	conn  *preparedConn
	query string
	stmt  sqliteStmt
}

// Close implements driver.Rows.
func (r *preparedRows) Close() error {
	if err := r.Rows.Close(); err != nil {
		return discard(r.stmt, err)
	}
	return r.conn.keep(r.query, r.stmt)
}
