// Command migration writes the versioned migrations of both dialects.
//
//	migration diff NAME   what the schema has and the migrations have not, as new migrations
//	migration hash        the checksums again, after a migration was written by hand
//	migration order       whether each was added after those before it, by git's history
//
// Those of PostgreSQL lock no table for long; what cannot be written so is refused, with what to write by hand.
//
// The PostgreSQL half replays the migrations on the empty database that SLIPWAY_TEST_POSTGRES names.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	atlas "ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/sqltool"

	"slipway/internal/data/store/migrate/diff"
	"slipway/internal/data/store/migrate/lint"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "migration:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	switch {
	case len(args) == 2 && args[0] == "diff":
		return errors.Join(
			diff.Write(ctx, "ent/migrate/sqlite", "", args[1]),
			diff.Write(ctx, "ent/migrate/postgres", os.Getenv("SLIPWAY_TEST_POSTGRES"), args[1]),
		)
	case len(args) == 1 && args[0] == "hash":
		return errors.Join(hash("ent/migrate/sqlite"), hash("ent/migrate/postgres"))
	case len(args) == 1 && args[0] == "order":
		return errors.Join(order(ctx, "ent/migrate/sqlite"), order(ctx, "ent/migrate/postgres"))
	}
	return errors.New("want: diff NAME, hash, or order")
}

// order fails if a migration was added after a later one.
func order(ctx context.Context, folder string) error {
	added, err := lint.Added(ctx, ".", folder)
	if err != nil {
		return err
	}
	for _, p := range lint.Order(added) {
		err = errors.Join(err, errors.New(p.String()))
	}
	return err
}

func hash(path string) error {
	dir, err := sqltool.NewGooseDir(path)
	if err != nil {
		return err
	}
	sum, err := dir.Checksum()
	if err != nil {
		return err
	}
	return atlas.WriteSumFile(dir, sum)
}
