package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	// maxGroupMembers is how many transactions one COMMIT ends at most.
	maxGroupMembers = 64
	// maxGroupTime is how long after its BEGIN a group takes one more member, which may be as slow as its
	// context lets it: the others wait for it with what they have written.
	maxGroupTime = 20 * time.Millisecond
)

// groupConnector commits the transactions of a SQLite file in groups. A file takes one writer at a time, and each
// COMMIT waits for the disk; if others wait for their turn meanwhile, one COMMIT and one sync are enough for
// all of them. So the connections of the pool that writes are no more than places in one queue: there is one
// connection to the file, and a transaction that begins waits for its turn. The first one begins a transaction of
// SQLite. When it has done its work and others wait, it does not commit but leaves the turn to the next one, which
// works in a savepoint, so that its failure takes nothing but its own writes back. Who finds nobody waiting, or the
// group full, commits for all; none of them returns from Commit before that, and all of them get its error.
// Nobody waits for company: alone, a transaction is BEGIN and COMMIT.
//
// A member of a group sees what the members before it have written. If their COMMIT fails, its own fails too. A member
// that rolls back, say because it was refused for what it has seen, waits for the end of the group and runs again if
// that fails. So nobody is told of anything built on a lost write, or of anything that readers do not see yet.
type groupConnector struct {
	preparedConnector
	maxMembers int

	mu      sync.Mutex
	busy    bool            // somebody has the turn
	waiting []chan struct{} // in the order of their turns, each closed when it comes
	closed  bool

	// The rest belongs to whom has the turn.

	// conn is the connection to the file, nil if it is to be opened.
	conn *preparedConn
	// group is the transaction that is open, if any.
	group *group
}

// group is a transaction of SQLite and its members that have done their work.
type group struct {
	tx      driver.Tx
	begun   time.Time
	members int
	// lost is whether SQLite has rolled the transaction back by itself, as it does when a statement meets a full
	// or broken disk or is interrupted.
	lost bool
	// ended is closed when the transaction has ended, with err.
	ended chan struct{}
	err   error
}

// errGroupLost is returned to the members of a group that is rolled back because of another member. They may run
// again.
var errGroupLost = errors.New("store: the transaction was rolled back with another one of its group")

// errNoTransaction is returned for a statement on the connection that writes, outside a transaction.
var errNoTransaction = errors.New("store: write outside a transaction")

// newGroupConnector returns a connector for a name of sqlitefile.DSN. What a savepoint would be rolled back to stays in
// memory: beyond some pages it would be written to a file that nobody reads.
func newGroupConnector(dsn string, found *lookups, maxMembers int) (*groupConnector, error) {
	c, err := newPreparedConnector(dsn+"&_txlock=immediate&_pragma=temp_store(MEMORY)", found)
	return &groupConnector{preparedConnector: c, maxMembers: maxMembers}, err
}

// Connect implements driver.Connector.
func (g *groupConnector) Connect(context.Context) (driver.Conn, error) {
	return &groupConn{groups: g}, nil
}

// Close implements io.Closer, for the pool. Transactions that are under way end before the connection is closed.
func (g *groupConnector) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	if g.busy {
		return nil
	}
	return g.closeConn()
}

// take waits for its turn, until the context ends.
func (g *groupConnector) take(ctx context.Context) error {
	g.mu.Lock()
	if !g.busy {
		g.busy = true
		g.mu.Unlock()
		return nil
	}

	turn := make(chan struct{})
	g.waiting = append(g.waiting, turn)
	g.mu.Unlock()

	select {
	case <-turn:
	case <-ctx.Done():
		if g.leave(turn) {
			return ctx.Err()
		}
	}

	if ctx.Err() != nil {
		g.pass()
	}
	return ctx.Err()
}

// leave takes a turn out of the queue, and reports false if it has come already.
func (g *groupConnector) leave(turn chan struct{}) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := slices.Index(g.waiting, turn)
	if at >= 0 {
		g.waiting = slices.Delete(g.waiting, at, at+1)
	}
	return at >= 0
}

// pass ends a turn. The next one who waits has it then; a group that it cannot join is committed before.
func (g *groupConnector) pass() {
	for !g.passOn() {
		g.end()
	}
}

// passOn gives the turn to the next one who waits, or to nobody, unless the group must end first, which it reports
// by false.
func (g *groupConnector) passOn() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.group != nil && (len(g.waiting) == 0 || g.group.isFull(g.maxMembers)):
		return false
	case len(g.waiting) > 0:
		close(g.waiting[0])
		g.waiting = slices.Delete(g.waiting, 0, 1)
	default:
		g.busy = false
		if g.closed {
			_ = g.closeConn() // whose pool is closed, so that nobody is there to be told
		}
	}
	return true
}

// isFull reports whether the group takes no more members.
func (g *group) isFull(maxMembers int) bool {
	return g.lost || g.members >= maxMembers || time.Since(g.begun) >= maxGroupTime
}

// end commits the group and tells its members.
func (g *groupConnector) end() {
	ending := g.group
	if ending.lost {
		ending.err = errGroupLost
	} else if ending.err = ending.tx.Commit(); ending.err != nil && !ending.lost {
		ending.err = errors.Join(ending.err, g.closeConn()) // which may be within the transaction still
	}
	g.group = nil
	close(ending.ended)
}

// begin begins a transaction, or a savepoint in that of the group.
func (g *groupConnector) begin(ctx context.Context) error {
	if g.group != nil {
		return g.savepoint("SAVEPOINT member")
	}
	if err := g.open(ctx); err != nil {
		return err
	}
	tx, err := g.conn.BeginTx(ctx, driver.TxOptions{})
	if err != nil {
		return err
	}
	g.group = &group{tx: tx, begun: time.Now(), ended: make(chan struct{})}
	return nil
}

// open opens the connection to the file where there is none, or one that was interrupted.
func (g *groupConnector) open(ctx context.Context) error {
	if g.conn != nil && (g.group != nil || g.conn.IsValid()) {
		return nil
	}
	if err := g.closeConn(); err != nil {
		return err
	}
	conn, err := g.connect(ctx)
	if err != nil {
		return err
	}
	conn.RegisterRollbackHook(func() {
		if g.group != nil {
			g.group.lost = true
		}
	})
	g.conn = conn
	return nil
}

// closeConn closes the connection to the file, and what transaction it has with it.
func (g *groupConnector) closeConn() error {
	if g.conn == nil {
		return nil
	}
	g.conn.RegisterRollbackHook(nil)
	err := g.conn.Close()
	g.conn = nil
	return err
}

// savepoint runs a statement about a member's savepoint.
func (g *groupConnector) savepoint(statement string) error {
	// The context of the member may have ended, which must not keep its writes in the group.
	_, err := g.conn.ExecContext(context.Background(), statement, nil)
	return err
}

// rollBack takes back what a member has written. Where that fails, the transaction ends with its connection.
func (g *groupConnector) rollBack() error {
	own := g.group
	var err error
	switch {
	case own.lost:
	case own.members == 0:
		err = own.tx.Rollback()
	default:
		err = errors.Join(g.savepoint("ROLLBACK TO member"), g.savepoint("RELEASE member"))
	}
	if own.members == 0 {
		g.group = nil
	}
	if err != nil {
		own.lost = true
		err = errors.Join(err, g.closeConn())
	}
	return err
}

// groupConn is a connection of the pool: a place in the queue, and the connection to the file during its turn.
type groupConn struct {
	groups *groupConnector
	// turn is whether it is this one's.
	turn bool
}

// BeginTx implements driver.ConnBeginTx.
func (c *groupConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if o != (driver.TxOptions{}) {
		return nil, fmt.Errorf("store: SQLite's transactions have no options: %+v", o)
	}
	if err := c.groups.take(ctx); err != nil {
		return nil, err
	}
	if err := c.groups.begin(ctx); err != nil {
		c.groups.pass()
		return nil, err
	}
	c.turn = true
	return groupTx{c}, nil
}

// Begin implements driver.Conn.
func (c *groupConn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

// ExecContext implements driver.ExecerContext.
func (c *groupConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return c.groups.conn.ExecContext(ctx, query, args)
}

// QueryContext implements driver.QueryerContext.
func (c *groupConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return c.groups.conn.QueryContext(ctx, query, args)
}

// PrepareContext implements driver.ConnPrepareContext.
func (c *groupConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return c.groups.conn.PrepareContext(ctx, query)
}

// Prepare implements driver.Conn.
func (c *groupConn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// check returns an error if a statement would run outside a transaction, as it would after SQLite has rolled that
// back by itself.
func (c *groupConn) check() error {
	switch {
	case !c.turn:
		return errNoTransaction
	case c.groups.group.lost:
		return errGroupLost
	}
	return nil
}

// Ping implements driver.Pinger.
func (c *groupConn) Ping(ctx context.Context) error {
	if err := c.groups.take(ctx); err != nil {
		return err
	}
	defer c.groups.pass()
	if err := c.groups.open(ctx); err != nil {
		return err
	}
	return c.groups.conn.Ping(ctx)
}

// ResetSession implements driver.SessionResetter.
func (c *groupConn) ResetSession(context.Context) error { return nil }

// IsValid implements driver.Validator.
func (c *groupConn) IsValid() bool { return true }

// Close implements driver.Conn.
func (c *groupConn) Close() error { return nil }

// groupTx is a member of a group while it does its work.
type groupTx struct{ conn *groupConn }

// Commit implements driver.Tx. It waits for the end of the group.
func (t groupTx) Commit() error {
	groups := t.conn.groups
	own := groups.group
	t.conn.turn = false
	if own.members > 0 && !own.lost {
		if err := groups.savepoint("RELEASE member"); err != nil {
			err = errors.Join(err, groups.rollBack())
			groups.pass()
			return err
		}
	}
	own.members++
	groups.pass()
	<-own.ended
	return own.err
}

// Rollback implements driver.Tx. If others have written before, it waits for the end of the group.
func (t groupTx) Rollback() error {
	groups := t.conn.groups
	own := groups.group
	sawOthers := own.members > 0 && !own.lost
	t.conn.turn = false
	err := groups.rollBack()
	groups.pass()
	if sawOthers {
		if <-own.ended; own.err != nil {
			err = errors.Join(err, errGroupLost)
		}
	}
	return err
}
