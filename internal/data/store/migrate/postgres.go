package migrate

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"regexp"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"slipway/internal/data/store/dburl"
	"slipway/internal/data/store/pgconn"
)

const (
	// lockTimeout is how long a migration may wait for the lock of a table. Whoever comes after it to that
	// table waits as long.
	lockTimeout = 100 * time.Millisecond
	// lockAttempts tries that begin between firstLockWait and longestLockWait apart take about five minutes.
	lockAttempts    = 65
	firstLockWait   = 100 * time.Millisecond
	longestLockWait = 5 * time.Second
	// connectTimeout is how long a migration waits for a connection if the URL does not say.
	connectTimeout = 2 * time.Second
)

func (m *migrator) openPostgres() error {
	config, _, err := dburl.ParseDSN(m.target.DSN)
	if err != nil {
		return err
	}

	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	config.Options = fmt.Sprintf("%s -c lock_timeout=%d -c statement_timeout=0",
		config.Options, lockTimeout.Milliseconds())

	connector, err := pq.NewConnectorConfig(config)
	if err != nil {
		return err
	}
	m.db, m.sent = sql.OpenDB(connector), pgconn.Sent(config)

	locker, err := newSessionLock(m.files)
	if err != nil {
		return errors.Join(err, m.db.Close())
	}
	return m.read("postgres", goose.DialectPostgres, goose.WithSessionLocker(locker))
}

// apply applies the pending migrations, and tries one again that found a table locked.
func (m *migrator) apply(ctx context.Context) (applied int, err error) {
	if err := m.checkSession(ctx); err != nil {
		return 0, err
	}

	// What a migration that failed has set in its session goes with the session.
	m.db.SetMaxIdleConns(-1)

	wait := firstLockWait
	for attempt := 1; ; attempt++ {
		results, err := m.goose.Up(ctx)
		applied += len(results)
		partial, ok := errors.AsType[*goose.PartialError](err)
		if ok && len(partial.Applied) > 0 {
			applied += len(partial.Applied)
			attempt, wait = 1, firstLockWait
		}

		switch {
		case pq.As(err, pqerror.LockNotAvailable, pqerror.TRDeadlockDetected) == nil:
			return applied, err
		case attempt >= m.lockAttempts:
			return applied, fmt.Errorf("a table stayed locked through %d tries; what holds the lock is in pg_stat_activity, "+
				"a transaction or a vacuum that runs long: end it or let it end, and migrate again: %w", attempt, err)
		}

		m.log.Warn("a migration found a table locked and is tried again",
			"attempt", attempt, "of", m.lockAttempts, "in", wait, "error", err)
		select {
		case <-ctx.Done():
			return applied, ctx.Err()
		case <-time.After(wait/2 + rand.N(wait)): //nolint:gosec // jitter is no secret
		}
		wait = min(2*wait, longestLockWait)
	}
}

// checkSession returns an error if a pooler drops the settings of a migration. Without them it would wait for locks and
// keep servers waiting, or be broken off.
func (m *migrator) checkSession(ctx context.Context) error {
	if m.target.IsSQLite() {
		return nil
	}

	conn, err := m.db.Conn(ctx)
	if err != nil {
		return err
	}

	err = conn.Raw(func(c any) error {
		asker, ok := c.(driver.QueryerContext)
		if !ok {
			return fmt.Errorf("the connection is a %T", c)
		}
		return pgconn.CheckSession(ctx, asker, m.sent)
	})

	if _, lacking := errors.AsType[*pgconn.SettingsError](err); lacking {
		err = fmt.Errorf("migrations go around a pooler: name the database without it in --database-direct, "+
			"or use a role of their own; %w", err)
	}
	return errors.Join(err, conn.Close())
}

// sessionLock is goose's lock, on the session that migrates. While it is held nobody else builds an index
// for a migration, and one that is invalid is what a build left that was broken off.
type sessionLock struct {
	lock.SessionLocker
	// indexes are those that migrations build concurrently.
	indexes []string
}

var concurrentIndex = regexp.MustCompile(`CREATE (?:UNIQUE )?INDEX CONCURRENTLY IF NOT EXISTS "?(\w+)"?`)

func newSessionLock(files fs.FS) (*sessionLock, error) {
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
	if err != nil {
		return nil, err
	}
	l := &sessionLock{SessionLocker: locker}
	names, err := fs.Glob(files, "postgres/*.sql")
	for _, name := range names {
		text, readErr := fs.ReadFile(files, name)
		err = errors.Join(err, readErr)
		for _, found := range concurrentIndex.FindAllSubmatch(text, -1) {
			l.indexes = append(l.indexes, string(found[1]))
		}
	}
	return l, err
}

// SessionLock takes the lock, and drops what builds left that were broken off.
func (l *sessionLock) SessionLock(ctx context.Context, conn *sql.Conn) error {
	if err := l.SessionLocker.SessionLock(ctx, conn); err != nil {
		return fmt.Errorf("wait for another process that migrates: %w", err)
	}
	if err := l.dropInvalid(ctx, conn); err != nil {
		return errors.Join(err, l.SessionLocker.SessionUnlock(context.WithoutCancel(ctx), conn))
	}
	return nil
}

// SessionUnlock gives the lock up. It drops what a build has left that failed just now: a unique index may go
// on refusing rows although it is invalid.
func (l *sessionLock) SessionUnlock(ctx context.Context, conn *sql.Conn) error {
	return errors.Join(l.dropInvalid(ctx, conn), l.SessionLocker.SessionUnlock(ctx, conn))
}

func (l *sessionLock) dropInvalid(ctx context.Context, conn *sql.Conn) error {
	indexes, err := l.invalid(ctx, conn)
	if err != nil || len(indexes) == 0 {
		return err
	}
	// The file that failed may have taken the timeout away.
	if _, err := conn.ExecContext(ctx, "RESET lock_timeout"); err != nil {
		return err
	}
	for _, index := range indexes {
		if _, err := conn.ExecContext(ctx, "DROP INDEX IF EXISTS "+index); err != nil {
			return fmt.Errorf("drop the index %s, whose build was broken off: %w", index, err)
		}
	}
	return nil
}

func (l *sessionLock) invalid(ctx context.Context, conn *sql.Conn) ([]string, error) {
	rows, err := conn.QueryContext(ctx, `SELECT indexrelid::regclass `+
		`FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
		WHERE NOT indisvalid AND relnamespace = current_schema()::regnamespace AND relname = ANY($1)`, pq.Array(l.indexes))
	if err != nil {
		return nil, err
	}
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		names = append(names, name)
	}
	return names, errors.Join(rows.Err(), rows.Close())
}
