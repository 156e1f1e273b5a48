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
		Short: "Apply the pending migrations",
		Long: `Apply the pending migrations, beside servers that serve. Any number of processes may do so at once.

A migration that finds a table locked gives way and is tried again, which it tells on standard error.
slipway migrate status says beforehand which migrations an older server may go on with.`,
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
		Short: "List the migrations and whether each was applied",
		Long: `List the migrations, whether each was applied, and what becomes of servers of an older version:

  may go on    a server that suits the database as it is serves on beside this migration, and may restart
  stop first   such a server fails once this migration is applied, and does not start any more

Of a migration that only another version of slipway has it says whether this version may serve with it. One that is out
of order was not applied before a later one was, and is not any more: that is a mistake of a version of slipway.`,
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
			servers = choose(m.Serves(program), "this one may serve", "this one may not serve")
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
