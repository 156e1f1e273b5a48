package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"slipway/internal/base/setting"
	"slipway/internal/remote/cli"
	"slipway/internal/service/account"
)

// initial is what init is to make.
type initial struct {
	source
	org, name, runnerToken string
	context                cli.NewContext
}

// refusal is the error of something that is there already, and stays as it is.
type refusal struct{ error }

func refusedf(format string, args ...any) error { return refusal{fmt.Errorf(format, args...)} }

func (r refusal) Unwrap() error { return r.error }

func initCommand(env setting.Environment) *cobra.Command {
	i := initial{context: cli.NewContext{Name: "local"}}
	c := &cobra.Command{
		Use:   "init --org SLUG [--runner-token FILE]",
		Short: "Set up an organization, its tokens and a context",
		Long: `Migrate the database and create everything that a first deployment needs: an organization, an
admin's token in the context "local", and a runner's token in a new file. No token is printed.

If the organization, the file or the context exists, init changes nothing and exits with 5.`,
		Example: `  slipway init --org acme --runner-token runner.token
  slipway init --org acme --name "Acme Ltd" --server http://127.0.0.1:9000
  slipway init --org acme --runner-token /etc/slipway/runner.token --database postgres://slipway@db.internal/slipway`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := setting.Needed(c.Flags(), "org"); err != nil {
				return err
			}
			i.name, i.context.Organization = cmp.Or(i.name, i.org), i.org
			if err := i.check(c.Context(), env); err != nil {
				return err
			}
			if err := i.make(c.Context(), env); err != nil {
				return err
			}
			return i.tell(c.OutOrStdout())
		},
	}
	i.flags(c.Flags(), defaultDatabase, databaseUsage)
	setting.Add(c.Flags(), &i.org, "org", "", setting.Text, "slug of the organization: 1 to 60 letters, digits, _ and -")
	setting.Add(c.Flags(), &i.name, "name", "", setting.OrEmpty(setting.Text),
		"display name (default: the slug)")
	setting.Add(c.Flags(), &i.runnerToken, "runner-token", "runner.token", tokenFile,
		"new file for the runner's token, readable by its owner only")
	setting.Add(c.Flags(), &i.context.Server, "server", "http://"+defaultListen, setting.BaseURL,
		"URL of the API, which the context uses")
	return c
}

// tokenFile reads the path of a file for a token, and shows nothing of what looks like the token itself.
var tokenFile = setting.Parser[string]{Kind: "FILE", Parse: func(s string) (string, error) {
	if strings.HasPrefix(s, "slp_") {
		return "", errors.New("want the path of a file that does not exist yet, found what looks like a token")
	}
	return setting.Text.Parse(s)
}}

// check refuses what is no good or there already, and changes nothing.
func (i *initial) check(ctx context.Context, env setting.Environment) error {
	// The organization's slug has a flag of another name here.
	if err := asUsage(account.CheckOrganization(i.name, i.org)); err != nil {
		return setting.Usagef("%s", strings.ReplaceAll(err.Error(), "--slug:", "--org:"))
	}

	if err := i.source.check(); err != nil {
		return err
	}

	err := i.context.Check(env)
	switch {
	case errors.Is(err, cli.ErrContextExists):
		return refusal{err}
	case err != nil:
		return err
	}

	if _, err := os.Lstat(i.runnerToken); err == nil {
		return i.tokenIsThere()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return i.checkDatabase(ctx, env)
}

func (i *initial) tokenIsThere() error {
	return refusedf("--runner-token: want a file that does not exist yet, found %q", i.runnerToken)
}

// checkDatabase refuses a database that has the organization, and one in use that is to be migrated first.
func (i *initial) checkDatabase(ctx context.Context, env setting.Environment) error {
	applied, pending, err := i.migrationsApplied(ctx)
	switch {
	case err != nil || applied == 0:
		return err
	case pending > 0:
		return refusedf("the database is in use and lacks %d migrations; apply them with: slipway migrate up, "+
			"and the same --database", pending)
	}
	return i.withAccounts(ctx, env, func(ctx context.Context, accounts *account.Service) error {
		list, err := accounts.AllOrganizations(ctx)
		for _, o := range list {
			if o.Slug == i.org {
				return refusedf("there is an organization with the slug %q already; make tokens for it with: "+
					"slipway token create --org %s", i.org, i.org)
			}
		}
		return err
	})
}

// tell prints what was made, and the commands that are next.
func (i *initial) tell(out io.Writer) error {
	const text = `made the organization %s
wrote the token of a runner to %s
made the context %s, an admin's at %s, which commands use now

Next, each in a terminal of its own%s:
  slipway serve%s
  slipway runner --server %s --token-file %s --exec "$PWD/deploy.sh"
`
	_, err := fmt.Fprintf(out, text, i.org, i.runnerToken, i.context.Name, i.context.Server,
		i.sameDatabase(), i.listening(), i.context.Server, quote(i.runnerToken))
	return err
}

// sameDatabase reminds of a database that is not the usual one. It does not show it: a URL may have a password.
func (i *initial) sameDatabase() string {
	if i.url == defaultDatabase {
		return ""
	}
	return ", serve with the same --database"
}

// listening returns the flag that has serve listen if the context expects it on this machine, if it takes one.
func (i *initial) listening() string {
	u, err := url.Parse(i.context.Server)
	if err != nil || u.Scheme != "http" || u.Port() == "" || u.Host == defaultListen {
		return ""
	}
	return " --listen " + u.Host
}

// quote returns a text as one word of a shell.
func quote(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-"
	if strings.Trim(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
