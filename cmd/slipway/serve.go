package main

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"slipway/internal/base/setting"
	"slipway/internal/data/store"
	"slipway/internal/data/store/migrate"
	"slipway/internal/edge/origin"
	"slipway/internal/server"
	"slipway/web"
)

func serveCommand() *cobra.Command {
	var s settings
	var migrateFirst bool
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the API",
		Long: `Serve the API: GraphQL at /graphql, REST, and GraphiQL at /playground.

SIGTERM and SIGINT shut down the server gracefully: /readyz responds with 503, subscriptions end,
running requests finish, and the exit code is 0. A second signal stops the server immediately.`,
		Example: `  slipway serve
  slipway serve --listen :8080 --database postgres://slipway@db.internal/slipway
  SLIPWAY_DATABASE=sqlite:/var/lib/slipway/slipway.db slipway serve`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.run(c.Context(), migrateFirst, s.logger(c.ErrOrStderr()))
		},
	}
	s.flags(c.Flags(), fallbacks{database: defaultDatabase, listen: defaultListen, admin: defaultAdmin}, databaseUsage)
	setting.Add(c.Flags(), &migrateFirst, "migrate", "true", setting.Bool,
		"apply pending migrations first; false refuses to serve if any are pending")
	return c
}

func (s *settings) run(ctx context.Context, migrateFirst bool, log *slog.Logger) (err error) {
	st, err := s.prepare(ctx, migrateFirst, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()

	l, err := s.bind(ctx)
	if err != nil {
		return err
	}

	found, err := standingOf(ctx, server.NewServices(st, log, store.Now, s.baseURL))
	if err != nil {
		return err
	}
	var explorer web.Config
	if !found.projects {
		if explorer.Examples, err = firstExamples(); err != nil {
			return err
		}
	}

	api := server.New(st, s.api(explorer, onLoopback(l.api), log))
	if !found.organizations {
		url := s.urlOfAPI(l)
		if strings.HasPrefix(s.baseURL, "https:") { // init takes no other from other machines
			url = s.baseURL
		}
		greet(url, log)
	}

	return s.serve(ctx, l, api, st, log)
}

// prepare opens the database, and migrates it or makes sure that it is migrated. The database is opened
// first: a second server on one SQLite file is refused before it could migrate under the first.
func (s *settings) prepare(ctx context.Context, migrateFirst bool, log *slog.Logger) (*store.Store, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if err := errors.Join(s.readTrusted(), s.readPair(log), s.openArchive(), s.openTraces(ctx, log)); err != nil {
		return nil, err
	}

	if origin.New("", s.allowedOrigins).Every() {
		log.Warn("--allowed-origins contains *: every web page may use the API; " +
			"do not put a proxy that adds a token in front of it")
	}

	st, err := store.Open(ctx, s.opening(log))
	if err != nil {
		return nil, err
	}

	if migrateFirst {
		var applied int
		applied, err = migrate.Up(ctx, s.migrations(), migrate.LogTo(log))
		if applied > 0 {
			log.Info("migrated the database", "applied", applied)
		}
	} else {
		err = s.migrated(ctx, migrate.LogTo(log))
	}

	if err == nil {
		err = warnOfRole(ctx, st, log)
	}
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return st, nil
}

// warnOfRole logs a warning if the database role takes row-level security away.
func warnOfRole(ctx context.Context, st *store.Store, log *slog.Logger) error {
	bypasses, err := st.BypassesRowSecurity(ctx)
	if bypasses {
		log.Warn("the database role is a superuser or has BYPASSRLS: row-level security does not apply to it; " +
			"use another role")
	}
	return err
}

// greet logs how to make the first organization of what is served at a URL.
func greet(url string, log *slog.Logger) {
	command := "slipway init --org acme"
	if url != "http://"+defaultListen {
		command += " --server " + url
	}
	log.Info("there is no organization yet; make the first one and its tokens, with the same --database",
		"command", command)
}
