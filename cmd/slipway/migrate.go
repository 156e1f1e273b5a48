package main

import (
	"fmt"
	"io"
	"log/slog"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"slipway/internal/data/store/migrate"
)

func migrateUpCommand() *cobra.Command {
	var s source
	c := &cobra.Command{
		Use:   "up",
		Short: "Apply pending migrations",
		Long: `Apply pending migrations while servers run. Several processes can apply them at the same time. If a
table is locked, the migration waits, retries and reports that on standard error.

Run slipway migrate status first: it shows which migrations an older server survives.`,
		Example: "  slipway migrate up --database postgres://slipway@db.internal/slipway",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := s.check(); err != nil {
				return err
			}
			log := newLogger(c.ErrOrStderr(), formatAuto, slog.LevelInfo)
			applied, err := migrate.Up(c.Context(), s.migrations(), migrate.LogTo(log))
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "applied %d migrations\n", applied)
			return err
		},
	}
	s.flags(c.Flags(), defaultDatabase, databaseUsage)
	return c
}

func migrateStatusCommand() *cobra.Command {
	var s source
	c := &cobra.Command{
		Use:   "status",
		Short: "List migrations and whether each is applied",
		Long: `List the migrations, whether each is applied, and its effect on servers of an older version:

  may go on    a server that fits the database now continues to run, and can restart
  stop first   such a server fails after this migration, and can no longer start

For a migration of another version of slipway, shows whether this version can run with it. An "out
of order" migration was skipped before a later migration was applied. That is a mistake in a version
of slipway.`,
		Example: "  slipway migrate status",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := s.check(); err != nil {
				return err
			}
			if err := s.existing(); err != nil {
				return err
			}
			list, err := migrate.List(c.Context(), s.migrations())
			if err != nil {
				return err
			}
			table := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			writeMigrations(table, list)
			return table.Flush()
		},
	}
	s.flags(c.Flags(), defaultDatabase, databaseUsage)
	return c
}

// writeMigrations writes a row for each migration, the oldest first.
func writeMigrations(out io.Writer, list []migrate.Migration) {
	var database, program int64 // the newest migration that each has
	for _, m := range list {
		if m.Applied {
			database = m.Version
		}
		if m.Name != "" {
			program = m.Version
		}
	}

	_, _ = fmt.Fprintln(out, "VERSION\tNAME\tSTATE\tOLDER SERVERS")
	for _, m := range list {
		name, state, servers := m.Name, "applied", ""

		switch {
		case name == "":
			name = choose(m.Version > program, "(of a newer version)", "(of another version)")
			servers = choose(m.Serves(program), "this version can serve", "this version cannot serve")
		case m.OutOfOrder:
			state, servers = "out of order", "a later one was applied: this version neither migrates nor serves"
		case !m.Applied:
			state, servers = "pending", choose(database == 0 || m.Serves(database), "may go on", "stop first")
		}

		_, _ = fmt.Fprintf(out, "%d\t%s\t%s\t%s\n", m.Version, name, state, servers)
	}
}

func choose(yes bool, then, otherwise string) string {
	if yes {
		return then
	}
	return otherwise
}
