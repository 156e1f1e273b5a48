package store

import (
	"context"
	"errors"
	"log/slog"
)

// MaxGroupMembers bounds how many transactions of SQLite are committed together.
func MaxGroupMembers(n int) func(*Config) { return func(c *Config) { c.maxGroupMembers = n } }

// MaxPrepared is how many statements a connection to a SQLite file keeps.
const MaxPrepared = maxPrepared

// Prepared returns how many statements a connection that reads a SQLite file keeps.
func Prepared(ctx context.Context, s *Store) (n int, err error) {
	conn, err := s.reads.Conn(ctx)
	if err != nil {
		return 0, err
	}
	err = conn.Raw(func(c any) error {
		n = c.(*preparedConn).idle.Len()
		return nil
	})
	return n, errors.Join(err, conn.Close())
}

// MaxPendingArgs bounds the arguments of a joined statement.
const MaxPendingArgs = maxPendingArgs

// Insert makes an INSERT.
func Insert(text string, args ...any) insert { return insert{text, args} }

// JoinInserts joins INSERTs.
func JoinInserts(list ...insert) (text string, args []any) {
	i := join(list)
	return i.text, i.args
}

// PublicError is the error that callers of a store get.
func PublicError(ctx context.Context, err error) error {
	return newStorage(slog.New(slog.DiscardHandler), &fitness{}).publicError(ctx, err)
}

// InSession runs a statement on a connection of the pool, outside a transaction.
func (s *Store) InSession(ctx context.Context, statement string) error {
	_, err := s.db.ExecContext(ctx, statement)
	return err
}
