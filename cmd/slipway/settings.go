package main

import (
	"io"
	"log/slog"
	"time"

	"github.com/spf13/pflag"

	"slipway/internal/deployment"
	"slipway/internal/server"
	"slipway/internal/store"
	"slipway/web"
)

// settings are those of serve and demo.
type settings struct {
	source
	isolation      store.Isolation
	maxConnections int

	listen, admin, baseURL    string
	introspection, playground bool
	maxBody, maxQuery         int
	requestTimeout            time.Duration
	lease                     time.Duration
	drainWait                 time.Duration
	shutdownTimeout           time.Duration

	logFormat format
	logLevel  slog.Level
}

func (s *settings) flags(fs *pflag.FlagSet, fallbackDatabase, databaseUsage string) {
	s.source.flags(fs, fallbackDatabase, databaseUsage)
	setting(fs, &s.isolation, "isolation", string(store.Filter), choice(store.Filter, store.Strict),
		"how single reads are kept within their organization on PostgreSQL: by the query's filter alone, or strictly under row-level security too")
	setting(fs, &s.maxConnections, "max-connections", "16", between(1, 1000), "connections to PostgreSQL")

	setting(fs, &s.listen, "listen", "127.0.0.1:8080", address, "where to serve the API; port 0 takes a free one")
	setting(fs, &s.admin, "admin-listen", "127.0.0.1:9090", orEmpty(address), "where to serve health and profiles; empty turns them off")
	setting(fs, &s.baseURL, "base-url", "", orEmpty(origin), "where the API is reached, for the links in its answers")
	setting(fs, &s.introspection, "introspection", "true", boolean, "tell the GraphQL schema to callers that ask for it")
	setting(fs, &s.playground, "playground", "true", boolean, "serve the explorer at /playground")
	setting(fs, &s.maxBody, "max-body", "256KiB", size, "largest body of a request")
	setting(fs, &s.maxQuery, "max-query", "16KiB", size, "largest GraphQL document")
	setting(fs, &s.requestTimeout, "request-timeout", "10s", atLeast(time.Millisecond), "how long a request may run")
	setting(fs, &s.lease, "lease", deployment.DefaultLease.String(), atLeast(time.Second),
		"how long a runner may be silent before its deployment has failed")
	setting(fs, &s.drainWait, "drain-wait", "0s", atLeast(0), "how long to serve on after SIGTERM, while /readyz already says 503")
	setting(fs, &s.shutdownTimeout, "shutdown-timeout", "20s", atLeast(time.Millisecond), "how long requests may finish after that")

	setting(fs, &s.logFormat, "log-format", string(formatAuto), choice(formatAuto, formatText, formatJSON),
		"log lines on standard error; auto is text on a terminal and json otherwise")
	setting(fs, &s.logLevel, "log-level", "info", level, "least level that is logged")
}

func (s *settings) logger(out io.Writer) *slog.Logger { return newLogger(out, s.logFormat, s.logLevel) }

// opening says how to open the database for a server.
func (s *settings) opening() store.Config {
	return store.Config{URL: s.url, Isolation: s.isolation, MaxConns: s.maxConnections, Exclusive: true}
}

// api says how to serve the API.
func (s *settings) api(explorer web.Config, log *slog.Logger) server.Config {
	return server.Config{
		BaseURL:       s.baseURL,
		Introspection: s.introspection,
		Playground:    s.playground,
		Explorer:      explorer,
		MaxBody:       int64(s.maxBody),
		MaxQuery:      s.maxQuery,
		Timeout:       s.requestTimeout,
		Lease:         s.lease,
		Log:           log,
	}
}
