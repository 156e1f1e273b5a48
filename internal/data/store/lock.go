package store

import (
	"context"
	"fmt"

	"entgo.io/ent/dialect"

	"slipway/ent"
)

// Lock has the transactions that ask for the same name wait for each other, each until it has ended. On SQLite, where
// one transaction writes at a time, they do so anyway. It comes before the first write of a transaction, so that nobody
// waits for it who keeps others waiting.
func (s *Store) Lock(ctx context.Context, tx *ent.Tx, name string) error {
	if s.dialect != dialect.Postgres {
		return nil
	}
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", name); err != nil {
		return fmt.Errorf("store: lock %s: %w", name, err)
	}
	return nil
}

// creationLock is how a transaction of PostgreSQL takes the lock of its organization's creations, in the statement that
// begins it. SQLite, where one transaction writes at a time, needs none.
type creationLock int

const (
	unlocked creationLock = iota
	shared
	exclusive
)

type creationKey struct{}

// Creating returns a context whose transactions create something in the actor's organization beside others that do,
// while no transaction of StoppingCreation is under way. They share a lock from their begin to their end, which takes
// no statement of its own. They have to read again what was read before.
func Creating(ctx context.Context) context.Context {
	return context.WithValue(ctx, creationKey{}, shared)
}

// StoppingCreation returns a context whose transactions begin when those of Creating in the actor's organization have
// ended, and keep others from beginning until their own end: what they find is all that there is.
func StoppingCreation(ctx context.Context) context.Context {
	return context.WithValue(ctx, creationKey{}, exclusive)
}

// creationLockOf returns the lock that Creating or StoppingCreation was called for.
func creationLockOf(ctx context.Context) creationLock {
	lock, _ := ctx.Value(creationKey{}).(creationLock)
	return lock
}
