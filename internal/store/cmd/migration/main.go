// Command migration writes the versioned migrations of both dialects.
//
//	migration diff NAME   what the schema has and the migrations have not, as new migrations
//	migration hash        the checksums again, after a migration was written by hand
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

	"slipway/internal/store/diff"
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
	}
	return errors.New("want: diff NAME, or hash")
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
