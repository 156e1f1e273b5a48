package database

import (
	"context"
	"fmt"
	"time"
)

// provideStatements sets up the extension that counts statements, where it is installed and the cluster is ours. It is
// loaded when the server starts next.
func (p *Postgres) provideStatements(ctx context.Context) error {
	var installed bool
	err := p.owner.QueryRowContext(ctx, "SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_stat_statements')").Scan(&installed)
	if err != nil || !installed || p.cluster == nil {
		return err
	}
	return execute(ctx, p.owner, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements", "ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'")
}

// countsStatements reports whether the server can be told to count statements.
func (p *Postgres) countsStatements(ctx context.Context) (counts bool, err error) {
	if p.cluster == nil {
		return false, nil
	}
	const query = "SELECT current_setting('shared_preload_libraries') LIKE '%pg_stat_statements%' AND EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_stat_statements')"
	if err := p.owner.QueryRowContext(ctx, query).Scan(&counts); err != nil {
		return false, fmt.Errorf("look for pg_stat_statements: %w", err)
	}
	return counts, nil
}

// CountStatements returns how many statements the role sends while f runs, BEGIN and COMMIT among them, but without the
// look-ups of tokens, which servers make from time to time; negative where the database cannot tell.
func (p *Postgres) CountStatements(ctx context.Context, f func() error) (count int, err error) {
	counts, err := p.countsStatements(ctx)
	if err != nil {
		return -1, err
	}
	if !counts {
		return -1, f()
	}
	if err := p.track(ctx, "top"); err != nil {
		return -1, err
	}
	if err := execute(ctx, p.owner, "SELECT pg_stat_statements_reset()"); err != nil {
		return -1, err
	}
	if err := f(); err != nil {
		return -1, err
	}
	const sum = "SELECT coalesce(sum(calls), 0) FROM pg_stat_statements JOIN pg_roles ON pg_roles.oid = userid WHERE rolname = $1 AND query NOT LIKE '%tokens%'"
	if err := p.owner.QueryRowContext(ctx, sum, role).Scan(&count); err != nil {
		return -1, fmt.Errorf("count the statements: %w", err)
	}
	return count, p.stopCounting(ctx)
}

// stopCounting ends the counting of statements, which takes its time and must not be part of what is measured.
func (p *Postgres) stopCounting(ctx context.Context) error {
	counts, err := p.countsStatements(ctx)
	if err != nil || !counts {
		return err
	}
	return p.track(ctx, "none")
}

// settled is how long the server's processes are given to read their settings again.
const settled = 100 * time.Millisecond

func (p *Postgres) track(ctx context.Context, what string) error {
	err := execute(ctx, p.owner, "ALTER SYSTEM SET pg_stat_statements.track = "+what, "SELECT pg_reload_conf()")
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(settled):
		return nil
	}
}
