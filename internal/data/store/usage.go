package store

import (
	"database/sql"
	"sync/atomic"
)

// lookups counts how often a statement was found prepared, and how often not.
type lookups struct{ hits, misses atomic.Uint64 }

// add counts a look.
func (l *lookups) add(isHit bool) {
	if isHit {
		l.hits.Add(1)
	} else {
		l.misses.Add(1)
	}
}

// Lookups returns how often a statement of a request was found prepared, and how often not, on all connections.
func (s *Store) Lookups() (hits, misses uint64) {
	return s.lookups.hits.Load(), s.lookups.misses.Load()
}

// Pools returns the state of each pool of connections by its name: postgres, or sqlite_write and sqlite_read.
func (s *Store) Pools() map[string]func() sql.DBStats {
	if s.Postgres() {
		return map[string]func() sql.DBStats{"postgres": s.db.Stats}
	}
	return map[string]func() sql.DBStats{"sqlite_write": s.db.Stats, "sqlite_read": s.reads.Stats}
}
