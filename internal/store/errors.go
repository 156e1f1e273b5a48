package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"os"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// IsUniqueViolation reports whether err is the violation of a unique index. The database tells by its code, never by
// its text.
func IsUniqueViolation(err error) bool {
	if pq.As(err, pqerror.UniqueViolation) != nil {
		return true
	}
	var e *sqlite.Error
	return errors.As(err, &e) &&
		(e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY)
}

// isRetryable reports whether a transaction or a read that failed with err may succeed when it is run again.
func isRetryable(err error) bool {
	var unreachable *unreachableError
	if errors.As(err, &unreachable) {
		return unreachable.isRetryable()
	}
	if errors.Is(err, errStandby) {
		return true
	}
	if e := pq.As(err); e != nil {
		switch e.Code.Class() {
		case "08", "40":
			return true
		case "53":
			return e.Code != pqerror.DiskFull
		case "57":
			return e.Code != pqerror.QueryCanceled
		}
		return e.Code == pqerror.ReadOnlySQLTransaction
	}
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()&0xff == sqlite3.SQLITE_BUSY
	}
	return isLostConnection(err) && !isWireTimeout(err)
}

// isLostConnection reports whether err is the network's rather than the database's.
func isLostConnection(err error) bool {
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, driver.ErrBadConn)
}

// isWireTimeout reports whether err is a wire deadline that ran out: the server is there and does not answer.
func isWireTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// isUnavailable reports whether err means that the database cannot serve for now.
func isUnavailable(err error) bool {
	var unreachable *unreachableError
	if errors.As(err, &unreachable) {
		return true
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	if e := pq.As(err); e != nil {
		return e.Code == pqerror.QueryCanceled || isRetryable(err) && e.Code.Class() != "40"
	}
	return isLostConnection(err) || isRetryable(err)
}
