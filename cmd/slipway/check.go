package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/data/store"
	"slipway/internal/server"
	"slipway/internal/service/inputvalidation"
)

// errFound says that a check has found something, which it has printed.
var errFound = errors.New("something that is stored would be refused now")

func checkCommand() *cobra.Command {
	var s source

	c := &cobra.Command{
		Use:   "check",
		Short: "List stored inputs that the current rules would reject",
		Long: `List default value definitions, inputs of module versions and live values that the current rules
would reject if they were saved or deployed now. Nothing is changed, and all of them continue to
work, as docs/inputs.md explains. The exit code is 3 if there are any.`,
		Example: "  slipway check --database postgres://slipway@db.internal/slipway",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			st, err := s.open(c.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, st.Close()) }()
			return checkStored(c.Context(), st, c.OutOrStdout())
		},
	}

	s.flags(c.Flags(), defaultDatabase, databaseUsage)
	return c
}

// checked counts what a check has looked at, and what it has found.
type checked struct{ stored, refused int }

// checkStored checks the global modules and each organization, and prints a line for each violation.
func checkStored(ctx context.Context, st *store.Store, out io.Writer) error {
	services := server.NewServices(st, slog.New(slog.DiscardHandler), store.Now, "")
	root := &actor.Actor{Name: "cli", Role: actor.System, Channel: actor.CLI}

	organizations, err := services.Accounts.AllOrganizations(actor.With(ctx, root))
	if err != nil {
		return err
	}

	var total checked
	for _, o := range append([]*ent.Organization{{Slug: store.GlobalScope}}, organizations...) {
		as := root
		if o.ID != "" {
			as = root.In(o.ID)
		}
		print := func(found inputvalidation.Stored) error { return total.print(out, o.Slug, found) }
		err := services.Inputs.CheckStored(actor.With(ctx, as), print)
		if err != nil {
			return fmt.Errorf("organization %s: %w", o.Slug, err)
		}
	}

	if _, err := fmt.Fprintf(out, "%d of %d would be refused now\n", total.refused, total.stored); err != nil {
		return err
	}
	if total.refused > 0 {
		return errFound
	}
	return nil
}

func (c *checked) print(out io.Writer, organization string, found inputvalidation.Stored) error {
	c.stored++
	if len(found.Violations) > 0 {
		c.refused++
	}
	for _, v := range found.Violations {
		_, err := fmt.Fprintf(out, "%s: %s %s (%s): %s: %s: %s\n",
			organization, found.Kind, found.ID, found.Name, v.Pointer, v.Rule, v.Message)
		if err != nil {
			return err
		}
	}
	return nil
}
