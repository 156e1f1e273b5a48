package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"entgo.io/ent/dialect"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"slipway/internal/fault"
)

// Taken says whether err is the violation of a unique index. The database tells by its code, never by
// its text.
func Taken(err error) bool {
	if pq.As(err, pqerror.UniqueViolation) != nil {
		return true
	}
	var e *sqlite.Error
	return errors.As(err, &e) &&
		(e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY)
}

// passing says whether a transaction that failed with err may succeed when it is run again.
func passing(err error) bool {
	if e := pq.As(err); e != nil {
		switch e.Code.Class() {
		case "08", "40", "53":
			return true
		case "57":
			return e.Code != pqerror.QueryCanceled
		}
		return e.Code == pqerror.ReadOnlySQLTransaction
	}
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()&0xff == sqlite3.SQLITE_BUSY
	}
	return lostConnection(err) && !silent(err)
}

// lostConnection says whether err is the network's rather than the database's.
func lostConnection(err error) bool {
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, driver.ErrBadConn)
}

// silent says whether err is a wire deadline that ran out: the server is there and does not answer.
func silent(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// unavailable says whether err means that the database cannot serve for now.
func unavailable(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	if e := pq.As(err); e != nil {
		return e.Code == pqerror.QueryCanceled || passing(err) && e.Code.Class() != "40"
	}
	return lostConnection(err) || passing(err)
}

// reported is err as callers of the store get it: their own context's end as such, and a database that
// cannot serve as ServerUnavailable.
func reported(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case unavailable(err):
		return fault.New(fault.ServerUnavailable, "The database does not answer.").Because(err)
	}
	return err
}

// reporting is a driver whose reads fail as reported.
type reporting struct{ dialect.Driver }

func (d reporting) Query(ctx context.Context, query string, args, v any) error {
	return reported(ctx, d.Driver.Query(ctx, query, args, v))
}

func (d reporting) BeginTx(ctx context.Context, o *sql.TxOptions) (dialect.Tx, error) {
	return begin(ctx, d.Driver, o)
}

// begin begins a transaction with options, which ent's interface of a driver leaves out.
func begin(ctx context.Context, d dialect.Driver, o *sql.TxOptions) (dialect.Tx, error) {
	b, ok := d.(interface {
		BeginTx(context.Context, *sql.TxOptions) (dialect.Tx, error)
	})
	if !ok {
		return nil, fmt.Errorf("store: %T begins no transactions", d)
	}
	return b.BeginTx(ctx, o)
}
