package pgconn

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"hash/maphash"
	"time"
	"unique"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// ErrStale is wrapped by the error of a statement that failed in a transaction because of how it was prepared: as
// it was before a migration, or in a session that is gone. The transaction may succeed when it is run again.
var ErrStale = errors.New("a prepared statement is out of date")

// maxText bounds the texts that are prepared, in bytes. What is longer has a list in it.
const maxText = 16 << 10

// statements are those that a connection has prepared, and what it has seen once. Preparing takes one round trip more
// than running a text as it is. So a text is prepared when it comes a second time: texts that come once take nothing
// from the server, and where more texts take turns than may be kept, they run as if none were.
type statements struct {
	// prepared has statements by their texts; it is nil if none are to be prepared.
	prepared *simplelru.LRU[string, driver.Stmt]
	// seen has the hashes of texts.
	seen *simplelru.LRU[uint64, struct{}]
	most int
	// found, where it is not nil, is Cache.OnLookup.
	found func(isPrepared bool)
}

var seed = maphash.MakeSeed()

func newStatements(most int, found func(bool)) statements {
	if most <= 0 {
		return statements{}
	}
	// NewLRU fails for a size that is not positive.
	prepared, _ := simplelru.NewLRU[string, driver.Stmt](most, nil)
	seen, _ := simplelru.NewLRU[uint64, struct{}](most, nil)
	return statements{prepared: prepared, seen: seen, most: most, found: found}
}

// run calls do with the statement that a text was prepared as, nil for none, and calls it without if the server
// does not run it as it was prepared. In a transaction, which has failed by then, it returns ErrStale.
func (c *Conn) run(ctx context.Context, text string, args []driver.NamedValue, do func(driver.Stmt) error) (err error) {
	if err := c.ready(ctx); err != nil {
		return err
	}
	defer func() {
		if IsNoSetting(err) {
			c.broken = true
		}
	}()

	if len(args) == 0 {
		// It goes as a message of another kind, with which neither a begin nor COMMIT goes.
		c.pipeline.commit = false
		if err := c.beginAlone(ctx); err != nil {
			return err
		}
		return do(nil)
	}

	if c.pipeline.commit {
		c.wire.until = time.Time{} // as in end
	}

	prepared, err := c.prepare(text)
	stale := isForeign(err)
	if err == nil {
		err = do(prepared)
		stale = prepared != nil && (isForeign(err) || isStale(err))
	}

	if err != nil && c.pipeline.refused {
		c.pipeline.refused = false
		if !isForeign(err) {
			return c.notBegun(err)
		}
		stale = true
	}

	if !stale {
		return err
	}

	c.forget(isForeign(err))
	if c.inTx {
		return fmt.Errorf("%w: %w", ErrStale, err)
	}
	if err := c.ready(ctx); err != nil {
		return err
	}
	return do(nil)
}

// forget forgets all that was prepared: others may be out of date as well, and a transaction is to be run again once
// only. In a session that is not the connection's alone nothing is prepared any more.
func (c *Conn) forget(foreign bool) {
	if foreign {
		c.statements, c.pipeline.names = statements{}, nil
		return
	}
	c.statements = newStatements(c.statements.most, c.statements.found)
	c.deallocate = true
}

// prepare returns the statement of a text, nil if it is not to be prepared, or not yet.
func (c *Conn) prepare(text string) (driver.Stmt, error) {
	s := c.statements
	if s.prepared == nil || len(text) > maxText {
		return nil, nil
	}

	prepared, isPrepared := s.prepared.Get(text)
	if s.found != nil {
		s.found(isPrepared)
	}
	if isPrepared {
		return prepared, nil
	}

	// A text is prepared the second time that it comes.
	hash := maphash.String(seed, text)
	if !s.seen.Remove(hash) {
		s.seen.Add(hash, struct{}{})
		return nil, nil
	}

	if s.prepared.Len() == s.most {
		_, oldest, _ := s.prepared.RemoveOldest()
		if err := oldest.Close(); err != nil {
			return nil, err
		}
	}

	prepared, err := c.conn.PrepareContext(context.Background(), text)
	if err != nil {
		return nil, err
	}
	// The connections of a pool share the text.
	s.prepared.Add(unique.Make(text).Value(), prepared)
	return prepared, nil
}

// duplicateStatement is the error for a name that lib/pq has not given on this connection before.
const duplicateStatement = pqerror.Code("42P05")

// noSetting is the code of a read in a session without the settings by which the policies of row-level security decide.
const noSetting = pqerror.Code("42704")

// IsNoSetting reports whether a statement was refused because its session lacks the settings that were sent when its
// connection was made: it ran in another one. The connection is closed.
func IsNoSetting(err error) bool { return pq.As(err, noSetting) != nil }

// isForeign reports whether err means that the session is not the one in which this connection has prepared its
// statements, or not its alone: a pooler has changed it, or has discarded what was in it.
func isForeign(err error) bool {
	return pq.As(err, pqerror.InvalidSQLStatementName, duplicateStatement) != nil
}

// isStale reports whether a statement that was prepared may fail with err because a table, column, type or function
// has changed since. A row that its policy refuses has a code of the same class.
func isStale(err error) bool {
	e := pq.As(err)
	switch {
	case e == nil:
		return false
	case e.Code == pqerror.FeatureNotSupported:
		// "cached plan must not change result type", in the server's language.
		return e.Routine == "RevalidateCachedQuery"
	default:
		return e.Code.Class() == "42" && e.Code != pqerror.InsufficientPrivilege && e.Code != noSetting
	}
}
