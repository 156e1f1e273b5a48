package main

import (
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"slipway/graph"
	"slipway/internal/base/setting"
	"slipway/internal/base/tracing/otlp"
	"slipway/internal/data/store"
	"slipway/internal/edge/auth"
	"slipway/internal/edge/gqlhttp"
	"slipway/internal/edge/gqlhttp/document"
	"slipway/internal/edge/gqlhttp/stream"
	"slipway/internal/edge/gqlhttp/wire"
	"slipway/internal/edge/origin"
	"slipway/internal/edge/quota"
	"slipway/internal/server"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/retention"
	"slipway/web"
)

// settings are those of serve and demo.
type settings struct {
	source
	isolation      store.Isolation
	maxConnections int

	listen, admin, debug      string
	tlsCert, tlsKey           string
	pair                      *keyPair       // that of the files, nil without them
	traces                    *otlp.Exporter // nil if the environment asks for none
	baseURL                   string
	trustedProxies            []netip.Prefix
	allowedOrigins            []origin.Pattern
	eventTokenHeader          string
	maxFailures, maxAnonymous int
	introspection, playground bool
	trustedDocuments          string
	trustedOnly               bool
	trusted                   *gqlhttp.Trusted // those of the file
	maxBody, maxQuery         int
	limits                    document.Limits
	bucket                    quota.Bucket
	streams                   stream.Config
	perOrganization           int // half stands for half of the streams
	maxMessage, maxRequests   int
	maxOperations             int
	requestTimeout            time.Duration
	lease, cancelTimeout      time.Duration
	keep                      retention.Keep
	auditArchive              string
	drainWait                 time.Duration
	shutdownTimeout           time.Duration

	logFormat format
	logLevel  slog.Level
}

// defaultListen is where serve serves the API unless another address is given.
const defaultListen = "127.0.0.1:8080"

// fallbacks are what serve and demo have if nothing is given.
type fallbacks struct{ database, listen, admin, origins string }

func (s *settings) flags(fs *pflag.FlagSet, usual fallbacks, databaseUsage string) {
	s.source.flags(fs, usual.database, databaseUsage)
	setting.Add(fs, &s.isolation, "isolation", string(store.DefaultIsolation), setting.Choice(store.Filter, store.Strict),
		"isolation of single reads on PostgreSQL: filter by organization, "+
			"or strict with row-level security as well")
	setting.Add(fs, &s.maxConnections, "max-connections", strconv.Itoa(store.DefaultMaxConns), setting.Between(1, 1000),
		"maximum number of connections to PostgreSQL")

	setting.Add(fs, &s.listen, "listen", usual.listen, setting.Address, "address of the API; port 0 picks a free port")
	setting.Add(fs, &s.admin, "admin-listen", usual.admin, setting.OrEmpty(setting.Address),
		"address of health and metrics; empty turns them off")
	setting.Add(fs, &s.debug, "debug-listen", "", setting.OrEmpty(setting.Address),
		"address of profiles, which show the work of the process and its command line")
	setting.Add(fs, &s.tlsCert, "tls-cert", "", setting.OrEmpty(setting.File),
		"PEM file of the TLS certificate and its chain; reloaded when it changes")
	setting.Add(fs, &s.tlsKey, "tls-key", "", setting.OrEmpty(setting.File), "PEM file of the certificate's key")
	setting.Add(fs, &s.baseURL, "base-url", "", setting.OrEmpty(setting.BaseURL),
		"public URL of the API, for links in responses; a proxy removes its path")
	setting.AddRepeatable(fs, &s.allowedOrigins, "allowed-origins", usual.origins, setting.OrEmpty(origins),
		"other origins that may use the API, separated by commas or repeated: https://app.example, "+
			"http://localhost:* for any port, or * for all")
	s.callerFlags(fs)
	setting.Add(fs, &s.introspection, "introspection", "true", setting.Bool,
		"allow introspection of the GraphQL schema")
	setting.Add(fs, &s.playground, "playground", "true", setting.Bool,
		"serve GraphiQL at /playground and the REST documents at /docs")
	setting.Add(fs, &s.maxBody, "max-body", setting.SizeText(gqlhttp.DefaultMaxBody), setting.Size,
		"maximum size of a request body")
	setting.Add(fs, &s.maxQuery, "max-query", setting.SizeText(wire.DefaultMaxQuery), setting.Size,
		"maximum size of a GraphQL document")
	setting.Add(fs, &s.trustedDocuments, "trusted-documents", "", setting.OrEmpty(setting.Text),
		"JSON file of GraphQL documents by their ids")
	setting.Add(fs, &s.trustedOnly, "trusted-only", "false", setting.Bool,
		"reject all other documents, except those of runners")
	s.graphqlFlags(fs)
	setting.Add(fs, &s.requestTimeout, "request-timeout", setting.DurationText(stream.DefaultTimeout),
		setting.AtLeast(time.Millisecond), "maximum time of a request")
	setting.Add(fs, &s.lease, "lease", setting.DurationText(execution.DefaultLease), setting.AtLeast(time.Minute),
		"time without a sign of life from a runner before its deployment fails")
	setting.Add(fs, &s.cancelTimeout, "cancel-timeout", setting.DurationText(execution.DefaultCancelTimeout),
		setting.AtLeast(time.Second),
		"time for a program to end after a cancellation, before it is killed")
	s.keepFlags(fs)
	setting.Add(fs, &s.drainWait, "drain-wait", "0s", setting.AtLeast(0),
		"time to continue to serve after SIGTERM, while /readyz responds with 503")
	setting.Add(fs, &s.shutdownTimeout, "shutdown-timeout", "20s", setting.AtLeast(time.Millisecond),
		"time for requests to finish after --drain-wait")

	setting.Add(fs, &s.logFormat, "log-format", string(formatAuto), setting.Choice(formatAuto, formatText, formatJSON),
		"log format on standard error; auto is text on a terminal and json otherwise")
	setting.Add(fs, &s.logLevel, "log-level", "info", setting.Level, "minimum log level")
}

// keepFlags are for how long what gets old is kept.
func (s *settings) keepFlags(fs *pflag.FlagSet) {
	setting.Add(fs, &s.keep.Details, "keep-details", "forever", foreverOr(retention.MinKeep),
		"time to keep the events, log and listener states of an ended deployment; "+
			"then they are counted and removed")
	setting.Add(fs, &s.keep.Audit, "keep-audit", "forever", foreverOr(retention.MinKeep),
		"time to keep the audit log before it moves to --audit-archive")
	setting.Add(fs, &s.auditArchive, "audit-archive", "", setting.OrEmpty(setting.File),
		"folder for the audit log that --keep-audit moves, as JSON lines")
}

// openArchive opens the folder for the audit, if there is one.
func (s *settings) openArchive() (err error) {
	switch {
	case s.keep.Audit == 0 && s.auditArchive == "":
		return nil
	case s.auditArchive == "":
		return setting.Usagef("--keep-audit: want --audit-archive as well, found none")
	case s.keep.Audit == 0:
		return setting.Usagef("--audit-archive: want --keep-audit as well, found none")
	}
	if s.keep.Archive, err = retention.OpenArchive(s.auditArchive); err != nil {
		return setting.Usagef("--audit-archive: want a writable folder: %v", err)
	}
	return nil
}

// callerFlags are how callers are told apart, and the limits of those who are not known.
func (s *settings) callerFlags(fs *pflag.FlagSet) {
	count := setting.Between(1, 1<<30)
	setting.Add(fs, &s.trustedProxies, "trusted-proxies", "", setting.OrEmpty(setting.Networks),
		"networks of proxies whose X-Forwarded-For is trusted, separated by commas")
	setting.Add(fs, &s.eventTokenHeader, "event-token-header", "X-Api-Key", setting.OrEmpty(headerName),
		"second header for a runner's token on cloud events, in addition to Authorization; "+
			"other paths ignore it")
	setting.Add(fs, &s.maxFailures, "max-failed-authentications", strconv.Itoa(auth.DefaultMaxFailures), count,
		"failed authentications per address and minute; then its unknown tokens are checked one at a time")
	setting.Add(fs, &s.maxAnonymous, "max-anonymous-connections", "200", count,
		"unauthenticated connections per address; connections of trusted proxies do not count")
}

// graphqlFlags are the limits of one GraphQL operation, and of the streams and sockets that carry them.
func (s *settings) graphqlFlags(fs *pflag.FlagSet) {
	const most = 1 << 30
	count := setting.Between(1, most)
	limits, streams := document.DefaultLimits(), stream.DefaultConfig()

	setting.Add(fs, &s.limits.Tokens, "max-tokens", strconv.Itoa(limits.Tokens), count, "tokens of a GraphQL document")
	setting.Add(fs, &s.limits.Brackets, "max-brackets", strconv.Itoa(limits.Brackets), count,
		"levels of brackets in a document")
	setting.Add(fs, &s.limits.Directives, "max-directives", strconv.Itoa(limits.Directives), count,
		"directives of a document")
	setting.Add(fs, &s.limits.Depth, "max-depth", strconv.Itoa(limits.Depth), count,
		"levels of fields, without those of introspection")
	setting.Add(fs, &s.limits.Aliases, "max-aliases", strconv.Itoa(limits.Aliases), count, "aliases of a document")
	setting.Add(fs, &s.limits.Selections, "max-selections", strconv.Itoa(limits.Selections), count,
		"fields and fragments that a document selects; a fragment counts each time that it is spread")
	setting.Add(fs, &s.limits.Fragments, "max-fragments", strconv.Itoa(limits.Fragments), count,
		"selections of a document's fragments, including everything that they spread")
	setting.Add(fs, &s.limits.Merging, "max-merging", strconv.Itoa(limits.Merging), count,
		"selections compared to merge fields with the same name")
	setting.Add(fs, &s.limits.Introspection, "max-introspection", strconv.Itoa(limits.Introspection), count,
		"schema values that introspection returns; an object counts as 2")
	setting.Add(fs, &s.limits.Repeats, "max-repeats", strconv.Itoa(limits.Repeats), count,
		"uses of one variable inside JSON literals")
	setting.Add(fs, &s.limits.VariableDepth, "max-variable-depth", strconv.Itoa(limits.VariableDepth), count,
		"levels of lists and objects in a variable")
	setting.Add(fs, &s.limits.Cost, "max-cost", strconv.Itoa(limits.Cost), count,
		"cost of an operation; docs/operations.md lists the costs")
	setting.Add(fs, &s.limits.Answer, "max-answer", setting.SizeText(limits.Answer), setting.Size,
		"maximum size of a response")

	setting.Add(fs, &s.bucket.Capacity, "cost-capacity", "500000", setting.Between(0, most),
		"cost budget of a caller; without a token a tenth of it; 0 is unlimited")
	setting.Add(fs, &s.bucket.PerSecond, "cost-per-second", "100000", setting.Between(0, most),
		"cost that a caller regains per second; without a token a tenth of it; 0 is unlimited")

	setting.Add(fs, &s.streams.Open, "max-streams", strconv.Itoa(streams.Open), count,
		"open event streams and WebSockets")
	setting.Add(fs, &s.streams.PerCaller, "max-streams-per-caller", "100", setting.Between(0, most),
		"open event streams and WebSockets per caller; 0 is unlimited")
	setting.Add(fs, &s.perOrganization, "max-streams-per-organization", "half", halfOr(0, most),
		"open event streams and WebSockets per organization; "+
			"half is half of --max-streams, 0 is unlimited")
	setting.Add(fs, &s.streams.Handshakes, "max-handshakes", strconv.Itoa(streams.Handshakes), count,
		"open WebSockets that are not acknowledged yet")

	setting.Add(fs, &s.maxOperations, "max-operations", "0", setting.Between(0, most),
		"concurrent GraphQL operations and REST requests; others wait, and their callers take turns; "+
			"0 is 8 per processor")
	setting.Add(fs, &s.maxRequests, "max-requests-per-caller", "64", setting.Between(0, most),
		"concurrent requests per caller; 0 is unlimited")

	setting.Add(fs, &s.streams.Operations, "max-subscriptions", strconv.Itoa(streams.Operations), count,
		"concurrent operations on a WebSocket")
	setting.Add(fs, &s.maxMessage, "max-message", setting.SizeText(int(streams.Message)), setting.Size,
		"maximum size of a message on a WebSocket")
	setting.Add(fs, &s.streams.InitTimeout, "init-timeout", setting.DurationText(streams.InitTimeout),
		setting.AtLeast(time.Millisecond), "time to authenticate a WebSocket")
	setting.Add(fs, &s.streams.WriteTimeout, "write-timeout", setting.DurationText(streams.WriteTimeout),
		setting.AtLeast(time.Millisecond),
		"time for a caller to read one message of a WebSocket, or 16 KiB of another response")
	setting.Add(fs, &s.streams.Heartbeat, "heartbeat", setting.DurationText(streams.Heartbeat),
		setting.AtLeast(time.Millisecond), "interval of signs of life on event streams and WebSockets")
}

// maxTrustedFile is the longest file of trusted documents, in bytes.
const maxTrustedFile = 4 << 20

// readTrusted reads the file of trusted documents, if there is one.
func (s *settings) readTrusted() error {
	if s.trustedDocuments == "" {
		if s.trustedOnly {
			return setting.Usagef("--trusted-only: want --trusted-documents as well, found none")
		}
		return nil
	}

	text, err := readWithin(s.trustedDocuments, maxTrustedFile)
	if err != nil {
		return setting.Usagef("--trusted-documents: %v", err)
	}

	s.trusted, err = graph.ReadTrusted(text, graph.Config{
		HTTP:   gqlhttp.HTTP{MaxQuery: s.maxQuery},
		Server: gqlhttp.Config{Introspection: s.introspection, Limits: s.limits},
	})
	if err != nil {
		return setting.Usagef("--trusted-documents: %s: %v", s.trustedDocuments, err)
	}
	s.trusted.Only = s.trustedOnly
	return nil
}

// readWithin reads a file of at most so many bytes.
func readWithin(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s: want at most %d bytes, found more", path, most)
	}
	return text, err
}

func (s *settings) logger(out io.Writer) *slog.Logger { return newLogger(out, s.logFormat, s.logLevel) }

// opening returns how to open the database for a server.
func (s *settings) opening(log *slog.Logger) store.Config {
	return store.Config{
		URL: s.url, DirectURL: s.direct, Isolation: s.isolation, MaxConns: s.maxConnections, Exclusive: true, Log: log,
		Checking: func(why string) { log.Warn("checking the database before it is served", "reason", why) },
	}
}

// api returns how to serve the API. With loopbackOnly it answers only under the names of this machine.
func (s *settings) api(explorer web.Config, loopbackOnly bool, log *slog.Logger) server.Config {
	s.streams.Message = int64(s.maxMessage)
	if s.streams.PerOrganization = s.perOrganization; s.perOrganization == half {
		s.streams.PerOrganization = stream.DefaultPerOrganization(s.streams.Open)
	}

	return server.Config{
		BaseURL:          s.baseURL,
		LoopbackOnly:     loopbackOnly,
		TrustedProxies:   s.trustedProxies,
		Origins:          s.allowedOrigins,
		MaxFailures:      s.maxFailures,
		EventTokenHeader: s.eventTokenHeader,
		Introspection:    s.introspection,
		Trusted:          s.trusted,
		Playground:       s.playground,
		Version:          thisBuild().version,
		Explorer:         explorer,
		MaxBody:          int64(s.maxBody),
		MaxQuery:         s.maxQuery,
		Limits:           s.limits,
		Bucket:           s.bucket,
		Streams:          s.streams,
		MaxRequests:      s.maxRequests,
		MaxOperations:    s.maxOperations,
		Timeout:          s.requestTimeout,
		Lease:            s.lease,
		CancelTimeout:    s.cancelTimeout,
		Keep:             s.keep,
		Trace:            s.traces.Handler,
		Log:              log,
	}
}
