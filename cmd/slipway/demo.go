package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/spf13/cobra"

	"slipway/internal/base/actor"
	"slipway/internal/base/setting"
	"slipway/internal/data/store"
	"slipway/internal/demo"
	"slipway/internal/server"
	"slipway/web"
)

func demoCommand() *cobra.Command {
	var s settings
	var pace float64
	c := &cobra.Command{
		Use:   "demo",
		Short: "Serve the API with demo data that is not kept",
		Long: `Serve the API with demo data, and print tokens for it. Without --database, the data is in a
temporary file that is deleted when the demo stops.

Deployments run as you watch: a blue/green deployment takes half a minute, a rolling deployment half
of that. A deployment fails if its inputs or its artifact have the word "broken"; with --pace 0, it
waits for your own runner.

GraphiQL has the admin token filled in, so only serve a demo to people who may do everything, under
the host of --base-url. Pages on any port of this machine can use the API.`,
		Example: `  slipway demo
  slipway demo --listen 127.0.0.1:0
  slipway demo --listen :8090 --base-url http://demo.internal:8090
  slipway demo --pace 5`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.demo(c.Context(), pace, c.OutOrStdout(), s.logger(c.ErrOrStderr()))
		},
	}
	// It stands beside a server of one's own, and nobody watches its health.
	s.flags(c.Flags(), fallbacks{listen: "127.0.0.1:8090", origins: pagesOfThisMachine},
		databaseUsage+" (default: a temporary SQLite file)")
	setting.Add(c.Flags(), &pace, "pace", "1", speed,
		"speed of deployments: 2 is twice as fast, 0 runs none")
	return c
}

// pagesOfThisMachine are the origins of the frontends that people try with the demo.
const pagesOfThisMachine = "http://localhost:*,http://127.0.0.1:*,http://[::1]:*"

// speed reads how fast the demo goes.
var speed = setting.Parser[float64]{Kind: "number", Parse: func(s string) (float64, error) {
	const slowest, fastest = 0.01, 1000
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || n != 0 && !(n >= slowest && n <= fastest) {
		return 0, setting.Unlike(fmt.Sprintf("0 or a number from %g to %d", slowest, fastest), s)
	}
	return n, nil
}}

func (s *settings) demo(ctx context.Context, pace float64, out io.Writer, log *slog.Logger) (err error) {
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
	url := s.urlOfAPI(l)
	if s.baseURL == "" {
		s.baseURL = url
	}

	result, err := demo.Seed(ctx, server.NewServices(st, log, store.Now, s.baseURL), st, log)
	if err != nil {
		return fmt.Errorf("cannot fill the demo's database: %w", err)
	}

	api := server.New(st, s.api(web.Config{Token: result.Tokens[actor.Admin], Examples: result.Examples}, true, log))
	if err := introduce(out, url, result, s.playground, pace > 0); err != nil {
		return err
	}
	defer carryOut(ctx, api.Services, result, pace, log)()
	return s.serve(ctx, l, api, st, log)
}

// carryOut starts the demo's runner, unless the pace is 0. The function that it returns stops the runner and waits for
// it.
func carryOut(
	ctx context.Context, services *server.Services, r *demo.Result, pace float64, log *slog.Logger,
) (stop func()) {
	if pace == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { demo.Run(ctx, services, r, pace, log) })
	return func() {
		cancel()
		running.Wait()
	}
}

// introduce prints what a visitor needs, as lines that can be pasted.
func introduce(out io.Writer, url string, r *demo.Result, playground, carriedOut bool) error {
	lines := "\nThe organization " + r.Slug + " and its tokens:\n"
	for _, role := range actor.Roles {
		if token, ok := r.Tokens[role]; ok {
			lines += fmt.Sprintf("  %-10s %s\n", role, token)
		}
	}
	if _, ok := r.Tokens[actor.Superadmin]; ok {
		lines += "The superadmin says whose things it is about: -H 'Slipway-Organization: " + r.Slug + "', or global.\n"
	}
	if playground {
		lines += "\nExplore it at " + url + "/playground, or paste:\n"
	} else {
		lines += "\nPaste:\n"
	}
	lines += fmt.Sprintf(`
export SLIPWAY_SERVER=%s
export SLIPWAY_TOKEN=%s

slipway instances list
slipway deployments list --status FAILED --limit 3
curl "$SLIPWAY_SERVER/module-definitions?limit=2" -H "Authorization: Bearer $SLIPWAY_TOKEN"
curl "$SLIPWAY_SERVER/deployments/%s" -H "Authorization: Bearer $SLIPWAY_TOKEN"
curl -X POST "$SLIPWAY_SERVER/deployments/%s/rollback" -H "Authorization: Bearer $SLIPWAY_TOKEN"
`, url, r.Tokens[actor.Admin], r.LiveDeploymentID, r.RollbackTargetID)
	if carriedOut {
		lines += `
Deployments are carried out as you watch. To see one fail, deploy an image whose tag has the word "broken".
`
	}
	lines += "\nready: " + url + "\n"
	_, err := io.WriteString(out, lines)
	return err
}
