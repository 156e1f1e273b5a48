package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"slipway/internal/base/fault"
	"slipway/internal/data/store/pgconn"
)

// IsUniqueViolation reports whether err is the violation of a unique index, by the code of the database's error
// and not by its text.
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

	if errors.Is(err, pgconn.ErrStandby) || errors.Is(err, errGroupLost) || errors.Is(err, pgconn.ErrStale) {
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

// isLostConnection reports whether err is of the network rather than of the database.
func isLostConnection(err error) bool {
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, driver.ErrBadConn)
}

// isWireTimeout reports whether err is a deadline on the wire that was exceeded: the server is there and does not
// answer.
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

// logStorageEvery is how often the log says that the storage fails.
const logStorageEvery = time.Minute

// storage is the state of the disk and the files under the database, as the errors of the database tell it.
type storage struct {
	log     *slog.Logger
	fitness *fitness
	// writesFail is whether the last write failed for the storage.
	writesFail atomic.Bool

	mu     sync.Mutex
	logged time.Time
}

func newStorage(log *slog.Logger, f *fitness) *storage { return &storage{log: log, fitness: f} }

// storageFault returns what is wrong with the storage, or "" where err is not about the storage.
func storageFault(err error) string {
	if _, ok := errors.AsType[*SettingsError](err); ok || pgconn.IsNoSetting(err) {
		return noSettings
	}
	if e := pq.As(err); e != nil {
		return postgresStorageFaults[e.Code]
	}
	if errors.Is(err, pgconn.ErrStandby) {
		return takesNoWrites
	}
	var e *sqlite.Error
	if errors.As(err, &e) {
		return sqliteStorageFaults[e.Code()&0xff]
	}
	return ""
}

// What is wrong with the storage, for callers and the log.
const (
	takesNoWrites = "it takes no writes"
	diskFull      = "its disk is full"
	diskBroken    = "its disk cannot be read or written"
	fileBroken    = "its file is damaged"
	noSettings    = "its sessions lack the settings of this server"
)

var postgresStorageFaults = map[pqerror.Code]string{
	pqerror.ReadOnlySQLTransaction: takesNoWrites,
	pqerror.DiskFull:               diskFull,
	pqerror.IOError:                diskBroken,
	pqerror.DataCorrupted:          fileBroken,
	pqerror.IndexCorrupted:         fileBroken,
}

// sqliteStorageFaults are by the primary codes, which each stand for their extended ones.
var sqliteStorageFaults = map[int]string{
	sqlite3.SQLITE_READONLY: takesNoWrites,
	sqlite3.SQLITE_FULL:     diskFull,
	sqlite3.SQLITE_IOERR:    diskBroken,
	sqlite3.SQLITE_CORRUPT:  fileBroken,
	sqlite3.SQLITE_NOTADB:   fileBroken,
}

// recordWrite records how a write has ended.
func (s *storage) recordWrite(ctx context.Context, err error) {
	switch {
	case err == nil:
		if s.writesFail.CompareAndSwap(true, false) {
			s.log.InfoContext(ctx, "the database takes writes again")
		}
	case storageFault(err) != "":
		s.writesFail.Store(true)
	}
}

// publicError returns err as callers of the store get it: ctx.Err() where their context has ended, and
// ServerUnavailable for a database that cannot serve.
func (s *storage) publicError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ended := endOf(ctx); ended != nil {
		return ended
	}
	s.fitness.recordStatement(err)
	if what := storageFault(err); what != "" {
		s.logFault(ctx, what, err)
		return unavailable("The database cannot do this for now: " + what + ".").WithLoggedCause(err)
	}
	if isUnavailable(err) {
		return unavailable("The database does not answer.").WithCause(err)
	}
	return err
}

// endOf returns the error of a context that has ended. The network ends whatever waits at the same deadline, and may be
// first by a hair: then the end is about to come.
func endOf(ctx context.Context) error {
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) && ctx.Done() != nil {
		<-ctx.Done()
	}
	return ctx.Err()
}

// unavailable returns ServerUnavailable with the seconds after which to try again in its metadata: the failure of a
// field of GraphQL has neither a status nor the header Retry-After.
func unavailable(message string) *fault.Error {
	const retry = 5
	e := fault.New(fault.ServerUnavailable, "%s", message)
	e.Metadata = map[string]any{"retryAfterSeconds": retry}
	return e
}

// logFault logs what is wrong with the storage, unless it has done so within the minute.
func (s *storage) logFault(ctx context.Context, what string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if !s.logged.IsZero() && now.Sub(s.logged) < logStorageEvery {
		return
	}
	s.logged = now
	s.log.ErrorContext(ctx, "the storage of the database fails: "+what, "error", err)
}
