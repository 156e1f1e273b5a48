package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"slipway/internal/base/id"
	"slipway/internal/base/setting"
	"slipway/internal/remote/client"
)

const wantToken = "the name of an active token, or tok_…"

var tokenView = view[client.TokenRecord]{
	columns: []column{
		{"TOKEN", "name"}, {"ROLE", "role"}, {"HOLDER", "holder"}, {"PROJECTS", "scope.projectIds"},
		{"ENVIRONMENTS", "scope.environmentIds"}, {"MODULES", "scope.moduleDefinitionIds"}, {"EXPIRES", "expiresAt"},
		{"USED", "lastUsedAt"}, {"REVOKED", "revokedAt"}, {"ID", "id"},
	},
	sheet: tokenSheet,
	name:  func(t *client.TokenRecord) string { return t.Id },
}

var tokenSheet = []column{
	{"token", "name"}, {"id", "id"}, {"role", "role"}, {"holder", "holder"}, {"projects", "scope.projectIds"},
	{"environments", "scope.environmentIds"}, {"modules", "scope.moduleDefinitionIds"}, {"begins with", "prefix"},
	{"created", "createdAt"}, {"created by", "createdBy.name"}, {"expires", "expiresAt"},
	{"last used", "lastUsedAt"}, {"revoked", "revokedAt"}, {"revoked by", "revokedBy.name"},
}

const tokensHelp = `These commands use the API with your token. To create the first token of an organization, or a
superadmin's, use slipway token on the machine of the database.`

func (c *Config) tokensCommand() *cobra.Command {
	group := Group("tokens", "Manage tokens over the API",
		c.tokensListCommand(), c.tokensCreateCommand(), c.tokensRevokeCommand())
	group.Long = "Manage the tokens of the organization. For admins.\n\n" + tokensHelp
	return group
}

func (c *Config) tokensListCommand() *cobra.Command {
	var p paging
	var role client.Role
	var holder, search string
	var all bool

	cmd := c.command(&cobra.Command{
		Use: "list", Short: "List active tokens, newest first", Args: cobra.NoArgs,
		Example: "  slipway tokens list\n  slipway tokens list --role RUNNER --all -o json",
	}, func(ctx context.Context, s *session, _ []string) error {
		if err := want(s, tokenView); err != nil {
			return err
		}
		filter := &client.TokenFilter{Holder: orNil(holder), Search: orNil(search)}
		if role != "" {
			filter.Role = &role
		}
		if active := true; !all {
			filter.Active = &active
		}
		return list(ctx, s, tokenView, p, s.tokenPages(filter))
	})

	p.flags(cmd)
	setting.AddFlag(cmd.Flags(), &role, "role", "", setting.Choice(client.AllRole...), "only tokens with this role")
	completeFlag(cmd, "role", fixed(client.AllRole))
	setting.AddFlag(cmd.Flags(), &holder, "holder", "", setting.Text, "only tokens of this holder")
	setting.AddFlag(cmd.Flags(), &search, "search", "", setting.Text, "only tokens whose name contains this text")
	setting.AddFlag(cmd.Flags(), &all, "all", "false", setting.Bool, "also list expired and revoked tokens")
	return cmd
}

func (c *Config) tokensRevokeCommand() *cobra.Command {
	return c.changing(&cobra.Command{
		Use: "revoke TOKEN", Short: "Revoke a token; servers reject it within five seconds", Args: cobra.ExactArgs(1),
		Example: "  slipway tokens revoke ci\n  slipway tokens revoke tok_01kb… --yes",
	}, func(ctx context.Context, s *session, args []string) error {
		if err := want(s, tokenView); err != nil {
			return err
		}

		token, err := s.token(ctx, args[0])
		if err != nil {
			return err
		}

		if err := s.confirm(ctx, change{
			question: fmt.Sprintf("Revoke the token %q?", token.Name), final: true,
			lines: []string{strings.Join([]string{token.Name, token.Id, string(token.Role)}, gap)},
		}); err != nil {
			return err
		}

		r, err := client.RevokeToken(ctx, s.conn, client.RevokeTokenInput{Id: token.Id})
		if err != nil {
			return err
		}
		return show(s, tokenView, &r.RevokeToken.Token)
	})
}

// token returns the token with an id, or the active one with a name.
func (s *session) token(ctx context.Context, ref string) (*client.TokenRecord, error) {
	if id.Of(id.Token, ref) {
		r, err := client.Token(ctx, s.conn, ref)
		if err != nil {
			return nil, err
		}
		return r.Token, nil
	}

	active := true
	var found []client.TokenRecord
	_, err := each(ctx, s.tokenPages(&client.TokenFilter{Active: &active, Search: &ref}), allOf,
		func(page []client.TokenRecord) (bool, error) {
			for _, t := range page {
				if t.Name == ref {
					found = append(found, t)
				}
			}
			return true, nil
		})
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, setting.Usagef("token: want %s, found %q", wantToken, ref)
	case len(found) > 1:
		ids := make([]string, len(found))
		for i, t := range found {
			ids[i] = t.Id
		}
		return nil, refusedf("several active tokens are named %q: use an id, %s", ref, strings.Join(ids, ", "))
	}
	return &found[0], nil
}

func (s *session) tokenPages(filter *client.TokenFilter) pageOf[client.TokenRecord] {
	return func(ctx context.Context, first *int, after *string) ([]client.TokenRecord, client.PageEnd, error) {
		r, err := client.Tokens(ctx, s.conn, filter, first, after)
		if err != nil {
			return nil, client.PageEnd{}, err
		}
		return r.Tokens.Nodes, r.Tokens.PageInfo, nil
	}
}
