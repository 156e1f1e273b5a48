package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"slipway/internal/base/id"
	"slipway/internal/base/secret"
	"slipway/internal/base/setting"
	"slipway/internal/remote/client"
)

// createdToken is a new token with its secret, unless that went to a file.
type createdToken struct {
	client.TokenRecord
	Secret string `json:"secret,omitempty"`
}

var createdTokenView = view[createdToken]{
	columns: append([]column{{"SECRET", "secret"}}, tokenView.columns...),
	sheet:   append([]column{{"secret", "secret"}}, tokenSheet...),
	name:    func(t *createdToken) string { return t.Id },
}

// tokenFlags are the flags that say what a new token is.
type tokenFlags struct {
	name, holder, to                string
	role                            client.Role
	expiresIn                       time.Duration
	projects, environments, modules []string
}

func (c *Config) tokensCreateCommand() *cobra.Command {
	var f tokenFlags

	cmd := c.changing(&cobra.Command{
		Use: "create --name NAME --role ROLE", Short: "Create a token, and show its secret once", Args: cobra.NoArgs,
		Long: `Create a token for the organization. The secret is shown only now; --to writes it to a new file
that only you can read.

A token without --holder counts as your own for approvals. ` + tokensHelp,
		Example: `  slipway tokens create --name ci --role DEVELOPER --module acme/queue --environment shop/staging
  slipway tokens create --name alice-laptop --role ADMIN --holder alice --expires-in 720h --to alice.token
  slipway tokens create --name runner --role RUNNER -o json --yes`,
	}, func(ctx context.Context, s *session, _ []string) error {
		if err := want(s, createdTokenView); err != nil {
			return err
		}
		in, err := f.input(ctx, s)
		if err != nil {
			return err
		}
		if err := s.confirm(ctx, change{question: fmt.Sprintf("Create the token %q?", in.Name)}); err != nil {
			return err
		}

		if f.to == "" {
			made, err := s.createToken(ctx, in)
			if err != nil {
				return err
			}
			return show(s, createdTokenView, made)
		}
		made, err := s.createTokenIn(ctx, in, f.to)
		if err != nil {
			return err
		}
		return show(s, createdTokenView, made)
	})

	fs := cmd.Flags()
	setting.AddFlag(fs, &f.name, "name", "", setting.Text, "display name, also in logs")
	setting.AddFlag(fs, &f.role, "role", "", setting.Choice(client.AllRole...), "role of the token")
	completeFlag(cmd, "role", fixed(client.AllRole))
	setting.AddFlag(fs, &f.holder, "holder", "", setting.Text,
		"owner of the token; for approvals, all tokens of a holder count as one person")
	setting.AddFlag(fs, &f.expiresIn, "expires-in", "", setting.AtLeast(time.Second),
		"time until the token expires, at most 8784h (default: 90 days)")
	setting.AddFlag(fs, &f.projects, "project", "", setting.List,
		"projects that the token can change, separated by commas")
	completeFlag(cmd, "project", c.complete(completeProjects))
	setting.AddFlag(fs, &f.environments, "environment", "", setting.List,
		"environments that the token can change, separated by commas")
	completeFlag(cmd, "environment", c.complete(completeEnvironments))
	setting.AddFlag(fs, &f.modules, "module", "", setting.List,
		"modules that the token can publish, separated by commas")
	completeFlag(cmd, "module", c.complete(completeModules))
	setting.AddFlag(fs, &f.to, "to", "", setting.Text, "new file for the secret, readable by its owner only")
	return cmd
}

// input returns the input of the API, for which it looks up the places and modules of the scope.
func (f *tokenFlags) input(ctx context.Context, s *session) (client.CreateTokenInput, error) {
	in := client.CreateTokenInput{Name: f.name, Role: f.role, Holder: orNil(f.holder)}
	switch {
	case f.name == "":
		return in, setting.Usagef("--name: want the name of the token, found nothing")
	case f.role == "":
		return in, setting.Usagef("--role: want the role of the token, found nothing")
	}
	if f.expiresIn > 0 {
		at := s.config.Now().Add(f.expiresIn).UTC()
		in.ExpiresAt = &at
	}

	scope := client.TokenScopeInput{}
	for _, ref := range f.projects {
		p, err := s.project(ctx, ref)
		if err != nil {
			return in, err
		}
		scope.ProjectIds = append(scope.ProjectIds, p.Id)
	}
	for _, ref := range f.environments {
		e, err := s.environment(ctx, ref)
		if err != nil {
			return in, err
		}
		scope.EnvironmentIds = append(scope.EnvironmentIds, e.Id)
	}
	for _, ref := range f.modules {
		m, err := s.module(ctx, ref)
		if err != nil {
			return in, err
		}
		scope.ModuleDefinitionIds = append(scope.ModuleDefinitionIds, m.Id)
	}
	if len(slices.Concat(scope.ProjectIds, scope.EnvironmentIds, scope.ModuleDefinitionIds)) > 0 {
		in.Scope = &scope
	}
	return in, nil
}

// createToken creates a token. If the answer is lost, nobody knows the secret: the request is not repeated.
func (s *session) createToken(ctx context.Context, in client.CreateTokenInput) (*createdToken, error) {
	r, err := client.CreateToken(ctx, once{s.conn}, in)
	if err != nil {
		if away(err) && !notDone(err) {
			s.note("the token may have been created; see slipway tokens list --search %q, and revoke it", in.Name)
		}
		return nil, err
	}
	return &createdToken{r.CreateToken.Token, r.CreateToken.Secret}, nil
}

// createTokenIn creates a token and writes its secret to a new file that only its owner can read. If the secret cannot
// be written, the token is revoked.
func (s *session) createTokenIn(ctx context.Context, in client.CreateTokenInput, path string) (*createdToken, error) {
	var made *createdToken
	err := secret.WriteNew(path, func() (_ string, err error) {
		if made, err = s.createToken(ctx, in); err != nil {
			return "", err
		}
		return made.Secret, nil
	}, func() error {
		_, err := client.RevokeToken(ctx, s.conn, client.RevokeTokenInput{Id: made.Id})
		return errors.Join(fmt.Errorf("the token %s could not be written, and is revoked", made.Id), err)
	})
	if errors.Is(err, fs.ErrExist) {
		return nil, setting.Usagef("--to: want a file that does not exist yet, found %q", path)
	}
	if err != nil {
		return nil, err
	}

	made.Secret = ""
	s.note("wrote the secret to %s", path)
	return made, nil
}

// isID reports whether a text is an id of any kind.
func isID(ref string) bool {
	_, is := id.KindOf(ref)
	return is
}
