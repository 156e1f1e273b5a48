package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"slipway/internal/base/setting"
	"slipway/internal/remote/client"
)

// login is what the flags of the command say.
type login struct {
	target
	withToken    bool
	tokenCommand string
}

func (c *Config) loginCommand() *cobra.Command {
	var l login
	cmd := c.local(&cobra.Command{
		Use: "login --server URL [--context NAME]", Short: "Save a server and a token as a context",
		Args: cobra.NoArgs,
		Long: `Save a server and a token as a context, and use it from now on. The command asks for the token
without showing it. It reads the token from a file with --token-file, and from standard input with
--with-token. --token-command runs a
program for each token instead of saving one. The context is saved only if the server accepts the
token.

Contexts are in ~/.config/slipway/config.yaml, which only you can read; SLIPWAY_CONFIG names another
file.`,
		Example: `  slipway login --server https://slipway.example.com --context prod
  slipway login --server https://slipway.example.com --token-file ci.token
  slipway login --server https://slipway.example.com --token-command "pass show slipway"`,
	}, func(ctx context.Context, s *session, _ []string) error { return l.run(ctx, s) })
	fs := cmd.Flags()
	setting.AddFlag(fs, &l.server, "server", "", setting.BaseURL, "URL of the API")
	setting.AddFlag(fs, &l.context, "context", "", setting.Text,
		"name of the context (default: the host of the server)")
	setting.AddFlag(fs, &l.withToken, "with-token", "false", setting.Bool, "read the token from standard input")
	setting.AddFlag(fs, &l.tokenFile, "token-file", "", setting.Text, "file with the token, which is saved")
	setting.AddFlag(fs, &l.tokenCommand, "token-command", "", setting.Text,
		"program that prints the token, run with sh -c when a command needs it")
	cmd.MarkFlagsMutuallyExclusive("with-token", "token-file", "token-command")
	l.placeFlags(fs)
	return cmd
}

func (l *login) run(ctx context.Context, s *session) error {
	if err := want(s, contextView); err != nil {
		return err
	}

	p, err := l.place(ctx, s)
	if err != nil {
		return err
	}
	if s.conn, err = s.config.connect(ctx, p, s.errOut); err != nil {
		return err
	}

	viewer, err := s.viewer(ctx)
	if err != nil {
		return err
	}
	if p.Organization == "" && viewer.Organization != nil {
		p.Organization = viewer.Organization.Slug
	}

	if err := s.config.use(ctx, p); err != nil {
		return err
	}

	s.note("logged in to %s as %s (%s)", p.Server, viewer.Name, viewer.Role)
	return show(s, contextView, recordOf(p.context, p.savedContext, p.context))
}

// place returns the place that the flags name, with the token that is asked for.
func (l *login) place(ctx context.Context, s *session) (p place, err error) {
	if l.server == "" {
		return p, setting.Usagef("--server: want the URL of a server, found nothing")
	}
	if err := l.checkScheme(l.server); err != nil {
		return p, err
	}

	p.savedContext = savedContext{Server: l.server, Organization: l.organization, TokenCommand: l.tokenCommand}
	if p.context = l.context; p.context == "" {
		u, err := url.Parse(l.server)
		if err != nil {
			return p, err
		}
		p.context = u.Host
	}

	if l.tokenCommand == "" {
		p.Token, err = l.readToken(ctx, s)
	}
	return p, err
}

// use saves a place as a context, and makes it the current one.
func (c *Config) use(ctx context.Context, p place) error {
	path, err := contextsPath(c.Env)
	if err != nil {
		return err
	}
	return c.changeContexts(ctx, path, func(saved *contexts) error {
		if saved.Contexts == nil {
			saved.Contexts = map[string]savedContext{}
		}
		saved.Contexts[p.context], saved.Current = p.savedContext, p.context
		return nil
	})
}

// readToken reads the token from standard input, without showing it if that is a terminal.
func (l *login) readToken(ctx context.Context, s *session) (string, error) {
	fd, interactive := terminal(s.in)
	switch {
	case l.tokenFile != "":
		return readToken(l.tokenFile)
	case l.withToken:
		return await(ctx, func() (string, error) { return tokenFrom(s.in, "standard input") })
	case !interactive:
		return "", setting.Usagef("want a terminal to ask for the token, --token-file, --with-token or --token-command, " +
			"found none of them")
	}
	text, err := s.readSecret(ctx, fd, "Token: ")
	if err != nil {
		return "", err
	}
	return tokenFrom(strings.NewReader(text), "the token")
}

func (c *Config) logoutCommand() *cobra.Command {
	var name string

	cmd := c.local(&cobra.Command{
		Use: "logout", Short: "Delete the saved token of a context", Args: cobra.NoArgs,
		Long: `Delete the saved token or token command of a context. The context remains, and the token is still
valid on the server until you revoke it there.`,
		Example: "  slipway logout\n  slipway logout --context prod",
	}, func(ctx context.Context, s *session, _ []string) error {
		if name == "" {
			name = variable(s.config.Env, "SLIPWAY_CONTEXT")
		}
		return s.changeContext(ctx, name, func(c *contexts, name string) {
			saved := c.Contexts[name]
			saved.Token, saved.TokenCommand = "", ""
			c.Contexts[name] = saved
		})
	})

	setting.AddFlag(cmd.Flags(), &name, "context", "", setting.Text,
		"context to log out of (default: SLIPWAY_CONTEXT, or the current context)")
	return cmd
}

// changeContext changes a context, the current one if it has no name, and shows it as it was.
func (s *session) changeContext(ctx context.Context, name string, change func(c *contexts, name string)) error {
	if err := want(s, contextView); err != nil {
		return err
	}

	path, err := contextsPath(s.config.Env)
	if err != nil {
		return err
	}

	var record *contextRecord
	err = s.config.changeContexts(ctx, path, func(c *contexts) error {
		if name == "" {
			name = c.Current
		}
		if name == "" {
			return setting.Usagef("want a context, found none")
		}
		if _, ok := c.Contexts[name]; !ok {
			return unknownContext(name, *c)
		}

		was := c.Contexts[name]
		change(c, name)
		if saved, ok := c.Contexts[name]; ok {
			was = saved
		}
		record = recordOf(name, was, c.Current)
		return nil
	})
	if err != nil {
		return err
	}
	return show(s, contextView, record)
}

func unknownContext(name string, c contexts) error {
	if len(c.Contexts) == 0 {
		return setting.Usagef("context %s: there are no contexts; make one with: slipway login --server URL --context %s",
			name, name)
	}
	return setting.Usagef("context %s: want one of %s, found no such context", name,
		strings.Join(slices.Sorted(maps.Keys(c.Contexts)), ", "))
}

// contextRecord is a context without its token.
type contextRecord struct {
	Name         string  `json:"name"`
	Server       string  `json:"server"`
	Organization *string `json:"organization"`
	Current      bool    `json:"current"`
	// Token says how the token is had.
	Token *string `json:"token"`
}

func recordOf(name string, saved savedContext, current string) *contextRecord {
	r := &contextRecord{
		Name: name, Server: saved.Server, Organization: orNil(saved.Organization), Current: name == current,
	}
	switch {
	case saved.TokenCommand != "":
		r.Token = orNil("command")
	case saved.Token != "":
		r.Token = orNil("saved")
	}
	return r
}

var contextView = view[contextRecord]{
	columns: []column{
		{"CONTEXT", "name"}, {"SERVER", "server"}, {"ORGANIZATION", "organization"}, {"CURRENT", "current"},
		{"TOKEN", "token"},
	},
	name: func(r *contextRecord) string { return r.Name },
}

func (c *Config) contextCommand() *cobra.Command {
	use := func(base *cobra.Command, change func(c *contexts, name string)) *cobra.Command {
		base.Args, base.ValidArgsFunction = cobra.ExactArgs(1), c.completeContexts
		return c.local(base, func(ctx context.Context, s *session, args []string) error {
			return s.changeContext(ctx, args[0], change)
		})
	}

	return Group("context", "List, select and delete contexts",
		c.contextListCommand(),
		use(&cobra.Command{Use: "use CONTEXT", Short: "Switch to another context", Example: "  slipway context use prod"},
			func(c *contexts, name string) { c.Current = name }),
		use(&cobra.Command{
			Use: "delete CONTEXT", Short: "Delete a context and its token", Example: "  slipway context delete prod",
		}, func(c *contexts, name string) {
			delete(c.Contexts, name)
			if c.Current == name {
				c.Current = ""
			}
		}))
}

func (c *Config) contextListCommand() *cobra.Command {
	var p paging

	cmd := c.local(&cobra.Command{
		Use: "list", Short: "List contexts", Args: cobra.NoArgs, Example: "  slipway context list",
	}, func(ctx context.Context, s *session, _ []string) error {
		if err := want(s, contextView); err != nil {
			return err
		}

		path, err := contextsPath(s.config.Env)
		if err != nil {
			return err
		}
		saved, err := readContexts(path)
		if err != nil {
			return err
		}

		var records []contextRecord
		for _, name := range slices.Sorted(maps.Keys(saved.Contexts)) {
			records = append(records, *recordOf(name, saved.Contexts[name], saved.Current))
		}
		return list(ctx, s, contextView, p, pagesOf(records))
	})

	p.flags(cmd)
	return cmd
}

// identity is who the token is, and what awaits it.
type identity struct {
	client.ViewerRecord
	// AwaitingMyApproval is how many deployments await an approval that the token could give, nil if that is not known.
	AwaitingMyApproval *int `json:"awaitingMyApproval"`
}

var viewerView = view[identity]{
	columns: []column{
		{"TOKEN", "name"}, {"ROLE", "role"}, {"ORGANIZATION", "organization.slug"}, {"EXPIRES", "expiresAt"},
		{"ID", "tokenId"}, {"AWAITING MY APPROVAL", "awaitingMyApproval"},
	},
	name: func(i *identity) string { return i.Name },
}

func (c *Config) whoamiCommand() *cobra.Command {
	return c.command(&cobra.Command{
		Use: "whoami", Short: "Show your token's name, role and permissions", Args: cobra.NoArgs,
		Long:    "Show your token's name, role and permissions, and the number of deployments that await your approval.",
		Example: "  slipway whoami\n  slipway whoami --fields role -o tsv",
	}, func(ctx context.Context, s *session, _ []string) error {
		if err := want(s, viewerView); err != nil {
			return err
		}
		viewer, err := s.viewer(ctx)
		if err != nil {
			return err
		}
		from := s.conn.Server
		if s.conn.context != "" {
			from = fmt.Sprintf("%s, context %s", from, s.conn.context)
		}
		s.note("%s", from)

		awaiting, err := s.awaitingMe(ctx)
		if err != nil {
			return err
		}
		return show(s, viewerView, &identity{*viewer, awaiting})
	})
}

// awaitingMe returns how many deployments await the caller's approval. It is nil if the server refuses to say: outside
// of an organization, or because it is older.
func (s *session) awaitingMe(ctx context.Context) (*int, error) {
	r, err := client.AwaitingMe(ctx, s.conn)
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Permanent() {
		return nil, nil
	}
	if err != nil || r.Deployments == nil {
		return nil, err
	}
	return &r.Deployments.TotalCount, nil
}
