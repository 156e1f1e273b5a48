package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/setting"
	"slipway/internal/service/account"
	"slipway/internal/service/catalog"
)

// owner is whose tokens a command is about: an organization's, or superadmins' if it names none.
type owner struct {
	source
	org string
}

func (o *owner) flags(fs *pflag.FlagSet) {
	o.source.flags(fs, defaultDatabase, databaseUsage)
	setting.Add(fs, &o.org, "org", "", setting.OrEmpty(setting.Text),
		"slug of the organization; not for superadmins")
}

func (o *owner) withAccounts(
	ctx context.Context, env setting.Environment, do func(context.Context, *account.Service) error,
) error {
	return o.source.withAccounts(ctx, env, func(ctx context.Context, accounts *account.Service) error {
		if o.org == "" {
			return do(ctx, accounts)
		}
		organization, err := accounts.OrganizationBySlug(ctx, o.org)
		if err != nil {
			return err
		}
		return do(actor.With(ctx, actor.From(ctx).In(organization.ID)), accounts)
	})
}

func tokenCreateCommand(env setting.Environment) *cobra.Command {
	var o owner
	var in account.NewToken
	var projects, environments, modules []string
	var to, holder string

	c := &cobra.Command{
		Use:   "create --org SLUG --role ROLE --name NAME [--to FILE]",
		Short: "Create a token and print it once, or write it to a file",
		Example: `  slipway token create --org acme --role developer --name ci --expires-in 720h
  slipway token create --org acme --role admin --name alice-laptop --holder alice --to alice.token
  slipway token create --org acme --role runner --name production --environment env_01jd… --to runner.token
  slipway token create --org acme --role developer --name queue-ci --module acme/queue --environment env_01jd…
  slipway token create --role superadmin --name root`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := setting.Needed(c.Flags(), "role", "name"); err != nil {
				return err
			}

			switch {
			case in.Role == actor.Superadmin && o.org != "":
				return setting.Usagef("--org: want none for the role superadmin, found %q", o.org)
			case in.Role != actor.Superadmin && o.org == "":
				return setting.Usagef("--org: want the slug of an organization for the role %s, found nothing", in.Role)
			}

			if holder != "" {
				in.Holder = &holder
			}

			return o.withAccounts(c.Context(), env, func(ctx context.Context, accounts *account.Service) error {
				var err error
				if in.Scope, err = scopeOf(ctx, accounts, projects, environments, modules); err != nil {
					return err
				}

				if to != "" {
					return createTokenIn(ctx, c.OutOrStdout(), accounts, in, to)
				}
				_, secret, err := accounts.CreateToken(ctx, in)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(c.OutOrStdout(), secret.Reveal())
				return err
			})
		},
	}

	o.flags(c.Flags())
	setting.Add(c.Flags(), &in.Role, "role", "", setting.Choice(actor.Roles...), "role of the token")
	setting.Add(c.Flags(), &in.Name, "name", "", setting.Text, "display name, also in logs")
	setting.Add(c.Flags(), &holder, "holder", "", setting.OrEmpty(setting.Text),
		"owner of the token; for approvals, all tokens of a holder count as one person "+
			"(default: the token counts as a person of its own)")
	setting.Add(c.Flags(), &in.ExpiresIn, "expires-in", "", setting.AtLeast(time.Second),
		"time until the token expires (default: never)")
	setting.Add(c.Flags(), &projects, "project", "", setting.List,
		"ids of the projects that the token may change (default: all, unless --environment is set)")
	setting.Add(c.Flags(), &to, "to", "", setting.OrEmpty(setting.Text),
		"new file for the token, readable by its owner only (default: print the token)")
	setting.Add(c.Flags(), &environments, "environment", "", setting.List,
		"ids of the environments that the token may change")
	setting.Add(c.Flags(), &modules, "module", "", setting.List,
		"types or ids of the modules that the token may publish")
	return c
}

// scopeOf returns the scope of what flags name, nil if they name nothing.
func scopeOf(
	ctx context.Context, accounts *account.Service, projects, environments, modules []string,
) (*actor.Scope, error) {
	definitions, err := definitionsOf(ctx, accounts, modules)
	if err != nil || projects == nil && environments == nil && definitions == nil {
		return nil, err
	}
	return account.ScopeOf(projects, environments, definitions), nil
}

// definitionsOf returns the ids of the module definitions of the organization that are named by their types or ids.
func definitionsOf(ctx context.Context, accounts *account.Service, modules []string) ([]string, error) {
	var definitions []string
	of := catalog.Service{Store: accounts.Store}
	for _, m := range modules {
		if id.Of(id.ModuleDefinition, m) {
			definitions = append(definitions, m)
			continue
		}
		d, err := of.DefinitionByType(ctx, m)
		if fault.Is(err, fault.ModuleDefinitionNotFound) {
			return nil, setting.Usagef("--module: want the type or the id of a module of the organization, found %q", m)
		}
		if err != nil {
			return nil, err
		}
		definitions = append(definitions, d.ID)
	}
	return definitions, nil
}

func tokenListCommand(env setting.Environment) *cobra.Command {
	var o owner

	c := &cobra.Command{
		Use:     "list",
		Short:   "List tokens without their secrets",
		Example: "  slipway token list --org acme",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return o.withAccounts(c.Context(), env, func(ctx context.Context, accounts *account.Service) error {
				list, err := accounts.AllTokens(ctx)
				if err != nil {
					return err
				}

				table := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
				_, _ = fmt.Fprintln(table, "ID\tNAME\tROLE\tHOLDER\tSCOPE\tTOKEN\tCREATED\tEXPIRES\tLAST USED\tREVOKED")
				for _, t := range list {
					_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s…%s\t%s\t%s\t%s\t%s\n", t.ID, t.Name, t.Role, orDash(t.Holder),
						reach(t.Scope), t.Prefix, t.LastFour,
						moment(&t.CreatedAt), moment(t.ExpiresAt), moment(t.LastUsedAt), moment(t.RevokedAt))
				}
				return table.Flush()
			})
		},
	}

	o.flags(c.Flags())
	return c
}

func tokenRevokeCommand(env setting.Environment) *cobra.Command {
	var o owner

	c := &cobra.Command{
		Use:     "revoke ID",
		Short:   "Revoke a token; servers reject it within five seconds",
		Example: "  slipway token revoke --org acme tok_01jd…",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return o.withAccounts(c.Context(), env, func(ctx context.Context, accounts *account.Service) error {
				t, err := accounts.RevokeToken(ctx, args[0])
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(c.OutOrStdout(), "revoked %s (%s) at %s\n", t.ID, t.Name, moment(t.RevokedAt))
				return err
			})
		},
	}

	o.flags(c.Flags())
	return c
}

// orDash is a text in a table, a dash if there is none.
func orDash(text *string) string {
	if text == nil {
		return "-"
	}
	return *text
}

// reach is a scope in a table, a dash for the whole organization.
func reach(s *actor.Scope) string {
	if s == nil {
		return "-"
	}
	return strings.Join(s.IDs(), ",")
}

// moment is a time in a table, a dash if there is none.
func moment(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}
