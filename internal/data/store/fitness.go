package store

import (
	"context"
	"errors"
	"sync/atomic"

	"slipway/internal/data/store/pgconn"
)

// SettingsError is returned for a database whose sessions lack settings that were sent when they were connected to.
type SettingsError = pgconn.SettingsError

// errNoSetting is why a database is unfit in which a statement ran in a session without settings.
var errNoSetting = errors.New("a statement ran in a session of the database that lacks the settings which were sent " +
	"when it was connected to; a pooler has dropped them (docs/operations.md, A pooler)")

// fitness tells whether the sessions of a database have the settings that were sent, by the last session looked at.
type fitness struct{ unfit atomic.Pointer[error] }

// record records what has come of a connection that was made.
func (f *fitness) record(err error) {
	if _, ok := errors.AsType[*SettingsError](err); ok {
		f.unfit.Store(&err)
	} else if err == nil {
		f.unfit.Store(nil)
	}
}

// recordStatement records what has come of a statement.
func (f *fitness) recordStatement(err error) {
	if pgconn.IsNoSetting(err) {
		lacking := errNoSetting
		f.unfit.CompareAndSwap(nil, &lacking)
	}
}

func (f *fitness) err() error {
	if why := f.unfit.Load(); why != nil {
		return *why
	}
	return nil
}

// CheckFit returns why the program may not serve a database that answers: a SettingsError, or ErrProgramTooOld. If the
// last connection lacked settings, it makes another one, by which it learns that they are in force again.
func (s *Store) CheckFit(ctx context.Context) error {
	if s.fitness.err() != nil {
		if err := s.checkConnection(ctx); err != nil {
			return err
		}
	}
	return s.CheckProgram(ctx)
}

// checkConnection makes a connection beside the pool and closes it again.
func (s *Store) checkConnection(ctx context.Context) error {
	conn, err := s.connector.Connect(ctx)
	if err != nil {
		return err
	}
	return conn.Close()
}
