package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"slipway/internal/actor"
	"slipway/internal/demo"
	"slipway/internal/server"
	"slipway/internal/store"
	"slipway/web"
)

func demoCommand() *cobra.Command {
	var s settings
	c := &cobra.Command{
		Use:   "demo",
		Short: "Serve the API on a throw-away database with demo data",
		Long: `Serve the API on a database that is filled with demo data, and print the tokens for it. Without
--database the data is in a temporary file that goes when the demo ends.

The explorer's page has the admin token: serve a demo to others only where everybody may do everything.`,
		Example: `  slipway demo
  slipway demo --listen 127.0.0.1:0`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.demo(c.Context(), c.OutOrStdout(), s.logger(c.ErrOrStderr()))
		},
	}
	s.flags(c.Flags(), "", databaseUsage+"; a throw-away SQLite file where it is not set")
	return c
}

func (s *settings) demo(ctx context.Context, out io.Writer, log *slog.Logger) (err error) {
	if s.url == "" {
		dir, err := os.MkdirTemp("", "slipway-demo-")
		if err != nil {
			return fmt.Errorf("cannot make a directory for the demo's database: %w", err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		s.url = "sqlite:" + filepath.Join(dir, "slipway.db")
	}
	st, err := s.prepare(ctx, true, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	l, err := s.bind(ctx)
	if err != nil {
		return err
	}
	url := urlOf(l.api)
	if s.baseURL == "" {
		s.baseURL = url
	}
	result, err := demo.Seed(ctx, server.NewServices(st, log, store.Now, s.baseURL), st, log)
	if err != nil {
		return fmt.Errorf("cannot fill the demo's database: %w", err)
	}
	api := server.New(st, s.api(web.Config{Token: result.Tokens[actor.Admin], Examples: result.Examples}, log))
	if err := introduce(out, url, result, s.playground); err != nil {
		return err
	}
	return s.serve(ctx, l, api, &server.Health{Ping: st.Ping}, log)
}

// introduce prints what a visitor needs, as lines that can be pasted.
func introduce(out io.Writer, url string, r *demo.Result, playground bool) error {
	lines := "\nThe organization " + r.Slug + " and its tokens:\n"
	for _, role := range actor.Roles {
		if token, ok := r.Tokens[role]; ok {
			lines += fmt.Sprintf("  %-10s %s\n", role, token)
		}
	}
	if playground {
		lines += "\nExplore it at " + url + "/playground, or paste:\n"
	} else {
		lines += "\nPaste:\n"
	}
	lines += fmt.Sprintf(`
export SLIPWAY_URL=%s
export SLIPWAY_TOKEN=%s

curl "$SLIPWAY_URL/module-definitions?limit=2" -H "Authorization: Bearer $SLIPWAY_TOKEN"
curl "$SLIPWAY_URL/deployments/%s" -H "Authorization: Bearer $SLIPWAY_TOKEN"
curl -X POST "$SLIPWAY_URL/deployments/%s/rollback" -H "Authorization: Bearer $SLIPWAY_TOKEN"

ready: %s
`, url, r.Tokens[actor.Admin], r.LiveDeploymentID, r.RollbackTargetID, url)
	_, err := io.WriteString(out, lines)
	return err
}
