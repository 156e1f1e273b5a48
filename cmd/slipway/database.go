package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"slipway/internal/base/setting"
	"slipway/internal/data/store"
	"slipway/internal/data/store/migrate"
)

// source is the settings that say which database to work on.
type source struct{ url, direct string }

const defaultDatabase = "sqlite:slipway.db"

func (s *source) flags(fs *pflag.FlagSet, fallback, usage string) {
	setting.Add(fs, &s.url, "database", fallback, database, usage)
	setting.Add(fs, &s.direct, "database-direct", "", setting.OrEmpty(database),
		"PostgreSQL without a connection pooler, for migrations and notifications")
}

const databaseUsage = "sqlite:PATH, postgres://USER@HOST/NAME or key=value pairs"

func (s *source) check() error {
	if s.direct != "" && (isSQLite(s.url) || isSQLite(s.direct)) {
		return setting.Usagef("--database-direct: want PostgreSQL for both, found SQLite in %s",
			s.whichIsSQLite())
	}
	return nil
}

func (s *source) whichIsSQLite() string {
	if isSQLite(s.url) {
		return "--database"
	}
	return "--database-direct"
}

func isSQLite(url string) bool { return strings.HasPrefix(url, "sqlite:") }

// migrations is the URL that migrations go to.
func (s *source) migrations() string { return cmp.Or(s.direct, s.url) }

// migrated fails unless every migration was applied.
func (s *source) migrated(ctx context.Context, options ...migrate.Option) error {
	pending, err := migrate.Pending(ctx, s.migrations(), options...)
	if err != nil {
		return err
	}
	if pending > 0 {
		return fmt.Errorf("the database lacks %d migrations; apply them with: slipway migrate up, and the same --database",
			pending)
	}
	return nil
}

// existing fails for a SQLite file that is not there, which opening it would make.
func (s *source) existing() error {
	if !s.isThere() {
		return fmt.Errorf("there is no database %s; make it with: slipway migrate up --database %s", s.url, s.url)
	}
	return nil
}

// isThere reports false for a SQLite file that is not there.
func (s *source) isThere() bool {
	path, ok := strings.CutPrefix(s.url, "sqlite:")
	if !ok {
		return true
	}
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// open opens a database that is there and up to date, beside whatever serves it.
func (s *source) open(ctx context.Context) (*store.Store, error) {
	if err := errors.Join(s.check(), s.existing()); err != nil {
		return nil, err
	}
	if err := s.migrated(ctx); err != nil {
		return nil, err
	}
	return store.Open(ctx, store.Config{URL: s.url})
}
