package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/setting"
	"slipway/internal/data/store"
	"slipway/internal/server"
	"slipway/internal/service/account"
)

// withAccounts does something with the accounts of a database, as the person at the terminal.
func (s *source) withAccounts(
	ctx context.Context, env setting.Environment, do func(context.Context, *account.Service) error,
) (err error) {
	st, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	name := "cli"
	if user, ok := env("USER"); ok {
		name += ":" + user
	}
	ctx = actor.With(ctx, &actor.Actor{Name: name, Role: actor.System, Channel: actor.CLI})
	return asUsage(do(ctx, server.NewServices(st, slog.New(slog.DiscardHandler), store.Now, "").Accounts))
}

// flagOf has the flags that give a part of an input by another name than its own.
var flagOf = map[string]string{
	"/expiresIn": "--expires-in", "/scope": "--project, --environment", "/scope/projectIds": "--project",
	"/scope/environmentIds":      "--environment",
	"/scope/moduleDefinitionIds": "--module",
}

// asUsage turns the violations of an input into what is wrong with the flags that gave it.
func asUsage(err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || len(f.Violations) == 0 {
		return err
	}
	wrong := make([]string, len(f.Violations))
	for i, v := range f.Violations {
		wrong[i] = cmp.Or(flagOf[v.Pointer], "--"+strings.TrimPrefix(v.Pointer, "/")) + ": " + v.Message
	}
	return setting.Usagef("%s", strings.Join(wrong, "; "))
}

func orgCreateCommand(env setting.Environment) *cobra.Command {
	var s source
	var name, slug string

	c := &cobra.Command{
		Use:     "create --name NAME --slug SLUG",
		Short:   "Create an organization and print its id",
		Example: `  slipway org create --name "Acme Ltd" --slug acme`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := setting.Needed(c.Flags(), "name", "slug"); err != nil {
				return err
			}
			return s.withAccounts(c.Context(), env, func(ctx context.Context, accounts *account.Service) error {
				o, err := accounts.CreateOrganization(ctx, name, slug)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(c.OutOrStdout(), o.ID)
				return err
			})
		},
	}

	s.flags(c.Flags(), defaultDatabase, databaseUsage)
	setting.Add(c.Flags(), &name, "name", "", setting.Text, "display name")
	setting.Add(c.Flags(), &slug, "slug", "", setting.Text,
		"short name in URLs and commands: 1 to 60 letters, digits, _ and -")
	return c
}

func orgListCommand(env setting.Environment) *cobra.Command {
	var s source

	c := &cobra.Command{
		Use:     "list",
		Short:   "List organizations",
		Example: "  slipway org list",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.withAccounts(c.Context(), env, func(ctx context.Context, accounts *account.Service) error {
				list, err := accounts.AllOrganizations(ctx)
				if err != nil {
					return err
				}

				table := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
				_, _ = fmt.Fprintln(table, "ID\tSLUG\tNAME\tCREATED")
				for _, o := range list {
					_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", o.ID, o.Slug, o.Name, moment(&o.CreatedAt))
				}
				return table.Flush()
			})
		},
	}

	s.flags(c.Flags(), defaultDatabase, databaseUsage)
	return c
}
