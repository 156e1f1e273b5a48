// Package diff compares the schema with what the migrations make of an empty database.
package diff

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"ariga.io/atlas/sql/sqltool"
	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"entgo.io/ent/dialect/sql/schema"
	_ "github.com/lib/pq"  // registers the driver "postgres"
	_ "modernc.org/sqlite" // registers the driver "sqlite"

	entmigrate "slipway/ent/migrate"
)

// Write writes what the migrations of a folder lack as new migrations of the name. It returns
// migrate.ErrNoPlan if they lack nothing, and an error that says what to write instead if a migration
// would keep servers waiting. dev is an empty database, "" for one of SQLite's in memory.
func Write(ctx context.Context, folder, dev, name string) error {
	driver, err := open(dev)
	if err != nil {
		return err
	}
	return errors.Join(write(ctx, folder, driver, name), driver.Close())
}

func write(ctx context.Context, folder string, driver *entsql.Driver, name string) error {
	dir, err := sqltool.NewGooseDir(folder)
	if err != nil {
		return err
	}
	files, err := dir.Files()
	if err != nil {
		return err
	}

	m, err := schema.NewMigrate(driver,
		schema.WithDir(dir),
		schema.WithDialect(driver.Dialect()),
		schema.WithMigrationMode(schema.ModeReplay),
		schema.WithFormatter(formatter{driver.Dialect(), files, time.Now()}),
		schema.WithErrNoPlan(true),
		schema.WithDropColumn(true),
		schema.WithDropIndex(true),
	)
	if err != nil {
		return err
	}

	if err := m.NamedDiff(ctx, name, entmigrate.Tables...); err != nil {
		return fmt.Errorf("%s: %w", folder, err)
	}
	return nil
}

func open(dev string) (*entsql.Driver, error) {
	if dev != "" {
		return entsql.Open(dialect.Postgres, dev)
	}
	db, err := sql.Open("sqlite", "file:dev?mode=memory&_pragma=foreign_keys(1)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return entsql.OpenDB(dialect.SQLite, db), nil
}
