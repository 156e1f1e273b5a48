package database

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/lib/pq"

	"slipway/bench/data"
	"slipway/bench/process"
	"slipway/internal/data/store/migrate"
	"slipway/internal/test/pgtest/cluster"
)

// Postgres is a database of PostgreSQL.
type Postgres struct {
	// URL is the database for those who are measured: as a role that row-level security holds.
	URL string
	// Bin is the folder of PostgreSQL's programs.
	Bin string

	superuser string
	owner     *sql.DB
	cluster   *cluster.Cluster
	world     data.World
	// stamp is the comment on a database that is filled.
	stamp string
	// pid is the server's first process, 0 if it is elsewhere.
	pid int
}

// role is whom those who are measured connect as.
const role = "slipway_bench"

// The settings of the cluster: whatever is acknowledged is on disk, except while it is filled.
var (
	measuring = []string{
		"unix_socket_directories=", "fsync=on", "synchronous_commit=on", "full_page_writes=on",
		"shared_buffers=1GB", "effective_cache_size=4GB", "max_wal_size=4GB", "checkpoint_timeout=30min",
		// What was written is cleared up after each round.
		"autovacuum=off",
	}
	filling = []string{
		"unix_socket_directories=", "shared_buffers=1GB", "maintenance_work_mem=512MB", "max_wal_size=16GB",
		"wal_level=minimal",
		"max_wal_senders=0", "checkpoint_timeout=1h", "autovacuum=off",
	}
)

// OpenPostgres starts the cluster of a folder and fills its database if it is not there yet. The caller closes it.
func OpenPostgres(ctx context.Context, dir string, w data.World, progress Progress) (*Postgres, error) {
	bin, err := cluster.Find(cluster.Packages)
	if err != nil {
		return nil, err
	}
	// The server runs as another user than root, and its path must not depend on where this program runs.
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	c, err := cluster.Keep(bin, dir, measuring...)
	if err != nil {
		return nil, err
	}
	p := &Postgres{Bin: bin, superuser: c.URL, cluster: c, world: w}
	if err := p.open(ctx, progress); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// OpenPostgresAt uses a server that runs, and makes a database and a role there. The URL is that of a superuser.
func OpenPostgresAt(ctx context.Context, superuser string, w data.World, progress Progress) (*Postgres, error) {
	p := &Postgres{superuser: superuser, world: w}
	// Without programs there is no ceiling; whoever asks for it says so.
	p.Bin, _ = cluster.Find(cluster.Packages)
	if err := p.open(ctx, progress); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// name is that of the database.
func (p *Postgres) name() string { return fmt.Sprintf("%s_%d", role, p.world.Deployments) }

func (p *Postgres) open(ctx context.Context, progress Progress) (err error) {
	if p.stamp, err = p.world.Fingerprint(); err != nil {
		return err
	}
	filled, err := p.isFilled(ctx)
	if err != nil {
		return err
	}

	if !filled {
		if err := p.restart(filling); err != nil {
			return err
		}
		if err := p.fill(ctx, progress); err != nil {
			return err
		}
		if err := p.restart(measuring); err != nil {
			return err
		}
	}

	if err := p.connect(ctx); err != nil {
		return err
	}
	if err := p.findProcess(ctx); err != nil {
		return err
	}
	return p.Clear(ctx)
}

// restart starts the cluster again with other settings. A server that is not ours keeps its own.
func (p *Postgres) restart(settings []string) error {
	if p.cluster == nil {
		return nil
	}
	p.cluster.ShutDown()
	err := p.cluster.Resume("data", settings...)
	p.superuser = p.cluster.URL
	return err
}

// isFilled reports whether the database is there as it is to be.
func (p *Postgres) isFilled(ctx context.Context) (bool, error) {
	var stamp sql.NullString
	err := p.asSuperuser(ctx, func(db *sql.DB) error {
		err := db.QueryRowContext(
			ctx, "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = $1", p.name(),
		).Scan(&stamp)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	if err != nil || stamp.String != p.stamp {
		return false, err
	}
	return migrated(ctx, p.url(p.superuser, nil, ""))
}

// url returns a URL of the database, by that of a superuser.
func (p *Postgres) url(superuser string, user *url.Userinfo, options string) string {
	u, err := url.Parse(superuser)
	if err != nil {
		return superuser // which whoever opens it refuses
	}
	u.Path = "/" + p.name()
	if user != nil {
		u.User = user
	}
	query := u.Query()
	if options != "" {
		query.Set("options", options)
	}
	u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	return u.String()
}

// asSuperuser calls f with the server's own database.
func (p *Postgres) asSuperuser(ctx context.Context, f func(*sql.DB) error) error {
	db, err := sql.Open("postgres", p.superuser)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.PingContext(ctx); err != nil {
		return fmt.Errorf("cannot open the database: %w", err)
	}
	return f(db)
}

// connect sets the role's password and opens the database as its owner, who is held neither by row-level security nor
// by foreign keys.
func (p *Postgres) connect(ctx context.Context) (err error) {
	password := rand.Text()
	err = p.asSuperuser(ctx, func(db *sql.DB) error {
		return execute(ctx, db, "ALTER ROLE "+role+" PASSWORD "+pq.QuoteLiteral(password))
	})
	if err != nil {
		return err
	}
	p.URL = p.url(p.superuser, url.UserPassword(role, password), "")
	if p.owner != nil {
		if err := p.owner.Close(); err != nil {
			return err
		}
	}
	p.owner, err = sql.Open("postgres", p.url(p.superuser, nil, "-c session_replication_role=replica"))
	return err
}

// fill makes the database and its rows.
func (p *Postgres) fill(ctx context.Context, progress Progress) error {
	err := p.asSuperuser(ctx, func(db *sql.DB) error {
		var exists bool
		if err := db.QueryRowContext(ctx, "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)", role).
			Scan(&exists); err != nil {
			return err
		}
		if !exists {
			if err := execute(ctx, db, "CREATE ROLE "+role+" LOGIN NOSUPERUSER NOBYPASSRLS"); err != nil {
				return err
			}
		}
		return execute(ctx, db, "DROP DATABASE IF EXISTS "+p.name(), "CREATE DATABASE "+p.name()+" OWNER "+role)
	})
	if err != nil {
		return err
	}
	if err := p.connect(ctx); err != nil {
		return err
	}
	if _, err := migrate.Up(ctx, p.URL); err != nil {
		return err
	}

	const secondary = "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'deployments' " +
		"AND indexname NOT LIKE '%_pkey' ORDER BY indexname"
	err = withoutIndexes(ctx, p.owner, secondary, progress, func() error { return p.copyAll(ctx, progress) })
	if err != nil {
		return err
	}

	progress("vacuum", 0, 1)
	if err := execute(ctx, p.owner, "VACUUM ANALYZE"); err != nil {
		return err
	}

	progress("vacuum", 1, 1)
	return execute(ctx, p.owner, "COMMENT ON DATABASE "+p.name()+" IS "+pq.QuoteLiteral(p.stamp))
}

// copyAll writes the rows of all tables. With a table emptied in the same transaction, PostgreSQL may leave out the
// log.
func (p *Postgres) copyAll(ctx context.Context, progress Progress) (err error) {
	tables := p.world.Tables()
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.Name
	}

	tx, err := p.owner.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()

	if _, err := tx.ExecContext(ctx, "TRUNCATE "+strings.Join(names, ", ")+" CASCADE"); err != nil {
		return err
	}

	for _, t := range tables {
		if err := copyTable(ctx, tx, t, progress); err != nil {
			return err
		}
	}

	return tx.Commit()
}

func copyTable(ctx context.Context, tx *sql.Tx, t data.Table, progress Progress) error {
	statement, err := tx.PrepareContext(ctx, "COPY "+t.Name+` ("`+strings.Join(t.Columns, `", "`)+`") FROM STDIN`)
	if err != nil {
		return err
	}
	if err := insert(ctx, statement, t, progress); err != nil {
		return errors.Join(err, statement.Close())
	}
	_, err = statement.ExecContext(ctx) // the end of the rows
	if err := errors.Join(err, statement.Close()); err != nil {
		return fmt.Errorf("write %s: %w", t.Name, err)
	}
	return nil
}

// SetUp runs statements as the owner of the tables.
func (p *Postgres) SetUp(ctx context.Context, statements string) error {
	db, err := sql.Open("postgres", p.URL)
	if err != nil {
		return err
	}
	return errors.Join(execute(ctx, db, statements), db.Close())
}

// CheckWritten returns an error if there is not one row of each kind for each of so many rollbacks.
func (p *Postgres) CheckWritten(ctx context.Context, rollbacks int) error {
	return checkWritten(ctx, p.owner, rollbacks)
}

// Clear removes what rollbacks have written.
func (p *Postgres) Clear(ctx context.Context) error {
	counts, err := countWritten(ctx, p.owner)
	if err != nil {
		return err
	}
	for _, n := range counts {
		if n > 0 {
			return execute(ctx, p.owner, "DELETE FROM deployments WHERE completed_at IS NULL", "TRUNCATE deployment_changes, "+
				"audit_events",
				"VACUUM deployments", "CHECKPOINT")
		}
	}
	return nil
}

// Close ends the cluster, whose data stay for the next run.
func (p *Postgres) Close() (err error) {
	if p.owner != nil {
		err = p.owner.Close()
	}
	if p.cluster != nil {
		p.cluster.ShutDown()
	}
	return err
}

// CPU returns the time of the processor that the server has taken, all of its processes together, 0 if it is not on
// this machine.
func (p *Postgres) CPU() (time.Duration, error) {
	if p.pid == 0 {
		return 0, nil
	}
	return process.CPU(p.pid)
}

// findProcess finds the server's first process, which has started that of every connection.
func (p *Postgres) findProcess(ctx context.Context) error {
	var backend int
	var local bool
	if err := p.owner.QueryRowContext(ctx, "SELECT pg_backend_pid(), inet_server_addr() <<= '127.0.0.0/8' OR "+
		"inet_server_addr() IS NULL").Scan(&backend, &local); err != nil {
		return fmt.Errorf("find the server's process: %w", err)
	}
	if !local {
		return nil
	}
	pid, err := process.Parent(backend)
	p.pid = pid
	return err
}
