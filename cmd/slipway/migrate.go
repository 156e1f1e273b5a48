package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"slipway/internal/store"
)

func migrateUpCommand() *cobra.Command {
	var s source
	c := &cobra.Command{
		Use:     "up",
		Short:   "Apply the pending migrations",
		Long:    "Apply the pending migrations. Any number of processes may do so at once.",
		Example: "  slipway migrate up --database postgres://slipway@db.internal/slipway",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := s.check(); err != nil {
				return err
			}
			applied, err := store.Migrate(c.Context(), s.migrations())
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
		Use:     "status",
		Short:   "List the migrations and whether each was applied",
		Example: "  slipway migrate status",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := s.check(); err != nil {
				return err
			}
			if err := s.existing(); err != nil {
				return err
			}
			list, err := store.Migrations(c.Context(), s.migrations())
			if err != nil {
				return err
			}
			table := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			_, _ = fmt.Fprintln(table, "VERSION\tNAME\tSTATE")
			for _, m := range list {
				_, _ = fmt.Fprintf(table, "%d\t%s\t%s\n", m.Version, m.Name, stateOf(m))
			}
			return table.Flush()
		},
	}
	s.flags(c.Flags(), defaultDatabase, databaseUsage)
	return c
}

func stateOf(m store.Migration) string {
	if m.Applied {
		return "applied"
	}
	return "pending"
}
