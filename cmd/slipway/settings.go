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
		"how single reads are kept within their organization on PostgreSQL: by the query's filter alone, "+
			"or strictly under row-level security too")
	setting.Add(fs, &s.maxConnections, "max-connections", strconv.Itoa(store.DefaultMaxConns), setting.Between(1, 1000),
		"connections to PostgreSQL")

	setting.Add(fs, &s.listen, "listen", usual.listen, setting.Address, "where to serve the API; port 0 takes a free one")
	setting.Add(fs, &s.admin, "admin-listen", usual.admin, setting.OrEmpty(setting.Address),
		"where to serve health and metrics; empty turns it off")
	setting.Add(fs, &s.debug, "debug-listen", "", setting.OrEmpty(setting.Address),
		"where to serve profiles; they tell what the process does and was started with")
	setting.Add(fs, &s.tlsCert, "tls-cert", "", setting.OrEmpty(setting.File),
		"the certificate of the API and its chain, in PEM, to serve it over TLS; it is read again when it changes")
	setting.Add(fs, &s.tlsKey, "tls-key", "", setting.OrEmpty(setting.File), "the key of the certificate, in PEM")
	setting.Add(fs, &s.baseURL, "base-url", "", setting.OrEmpty(setting.BaseURL),
		"where the API is reached, for the links in its answers; a proxy takes its path away")
	setting.AddRepeatable(fs, &s.allowedOrigins, "allowed-origins", usual.origins, setting.OrEmpty(origins),
		"origins whose pages may use the API besides its own, between commas or repeated: https://app.example, "+
			"http://localhost:* for any port, or * for all")
	s.callerFlags(fs)
	setting.Add(fs, &s.introspection, "introspection", "true", setting.Bool,
		"tell the GraphQL schema to callers that ask for it")
	setting.Add(fs, &s.playground, "playground", "true", setting.Bool,
		"serve the explorer at /playground and the REST documents at /docs")
	setting.Add(fs, &s.maxBody, "max-body", setting.SizeText(gqlhttp.DefaultMaxBody), setting.Size,
		"largest body of a request")
	setting.Add(fs, &s.maxQuery, "max-query", setting.SizeText(wire.DefaultMaxQuery), setting.Size,
		"largest GraphQL document")
	setting.Add(fs, &s.trustedDocuments, "trusted-documents", "", setting.OrEmpty(setting.Text),
		"a JSON file of GraphQL documents by the ids that callers may name them by")
	setting.Add(fs, &s.trustedOnly, "trusted-only", "false", setting.Bool,
		"refuse every other document, but those of runners")
	s.graphqlFlags(fs)
	setting.Add(fs, &s.requestTimeout, "request-timeout", setting.DurationText(stream.DefaultTimeout),
		setting.AtLeast(time.Millisecond), "how long a request may run")
	setting.Add(fs, &s.lease, "lease", setting.DurationText(execution.DefaultLease), setting.AtLeast(time.Minute),
		"how long a runner may be silent before its deployment has failed")
	setting.Add(fs, &s.cancelTimeout, "cancel-timeout", setting.DurationText(execution.DefaultCancelTimeout),
		setting.AtLeast(time.Second),
		"how long a program may take to end once its cancellation was requested, before it is killed")
	s.keepFlags(fs)
	setting.Add(fs, &s.drainWait, "drain-wait", "0s", setting.AtLeast(0),
		"how long to serve on after SIGTERM, while /readyz already says 503")
	setting.Add(fs, &s.shutdownTimeout, "shutdown-timeout", "20s", setting.AtLeast(time.Millisecond),
		"how long requests may finish after that")

	setting.Add(fs, &s.logFormat, "log-format", string(formatAuto), setting.Choice(formatAuto, formatText, formatJSON),
		"log lines on standard error; auto is text on a terminal and json otherwise")
	setting.Add(fs, &s.logLevel, "log-level", "info", setting.Level, "least level that is logged")
}

// keepFlags are for how long what gets old is kept.
func (s *settings) keepFlags(fs *pflag.FlagSet) {
	setting.Add(fs, &s.keep.Details, "keep-details", "forever", foreverOr(retention.MinKeep),
		"how long a deployment keeps its events, its log and the states of its listeners once it has ended; "+
			"then they are counted and removed")
	setting.Add(fs, &s.keep.Audit, "keep-audit", "forever", foreverOr(retention.MinKeep),
		"how long the audit is kept before it moves to --audit-archive")
	setting.Add(fs, &s.auditArchive, "audit-archive", "", setting.OrEmpty(setting.File),
		"the folder that --keep-audit moves the audit to, as JSON lines")
}

// openArchive opens the folder for the audit, if there is one.
func (s *settings) openArchive() (err error) {
	switch {
	case s.keep.Audit == 0 && s.auditArchive == "":
		return nil
	case s.auditArchive == "":
		return setting.Usagef("--keep-audit: want --audit-archive beside it, found none")
	case s.keep.Audit == 0:
		return setting.Usagef("--audit-archive: want --keep-audit beside it, found none")
	}
	if s.keep.Archive, err = retention.OpenArchive(s.auditArchive); err != nil {
		return setting.Usagef("--audit-archive: want a folder in which files can be made: %v", err)
	}
	return nil
}

// callerFlags are how callers are told apart, and the limits of those who are not known.
func (s *settings) callerFlags(fs *pflag.FlagSet) {
	count := setting.Between(1, 1<<30)
	setting.Add(fs, &s.trustedProxies, "trusted-proxies", "", setting.OrEmpty(setting.Networks),
		"networks of the proxies whose X-Forwarded-For is believed, between commas")
	setting.Add(fs, &s.eventTokenHeader, "event-token-header", "X-Api-Key", setting.OrEmpty(headerName),
		"header in which the events of the cloud may bear the token of a runner, besides Authorization; "+
			"no other path takes it")
	setting.Add(fs, &s.maxFailures, "max-failed-authentications", strconv.Itoa(auth.DefaultMaxFailures), count,
		"failed authentications of an address within a minute, after which its unknown tokens are looked up one at a time")
	setting.Add(fs, &s.maxAnonymous, "max-anonymous-connections", "200", count,
		"connections of an address on which no good token has come; a trusted proxy's are not counted")
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
		"fields and fragments that a document selects, its fragments counted as often as they are spread")
	setting.Add(fs, &s.limits.Fragments, "max-fragments", strconv.Itoa(limits.Fragments), count,
		"selections of a document's fragments, each counted with all that it spreads")
	setting.Add(fs, &s.limits.Merging, "max-merging", strconv.Itoa(limits.Merging), count,
		"selections that are looked at to merge the fields of one name")
	setting.Add(fs, &s.limits.Introspection, "max-introspection", strconv.Itoa(limits.Introspection), count,
		"values of the schema that an operation may be told, an object counting as 2")
	setting.Add(fs, &s.limits.Repeats, "max-repeats", strconv.Itoa(limits.Repeats), count,
		"uses of one variable inside the literals of JSON and the like")
	setting.Add(fs, &s.limits.VariableDepth, "max-variable-depth", strconv.Itoa(limits.VariableDepth), count,
		"levels of lists and objects in a variable")
	setting.Add(fs, &s.limits.Cost, "max-cost", strconv.Itoa(limits.Cost), count,
		"cost of an operation; docs/operations.md says what costs how much")
	setting.Add(fs, &s.limits.Answer, "max-answer", setting.SizeText(limits.Answer), setting.Size,
		"largest answer of a request")

	setting.Add(fs, &s.bucket.Capacity, "cost-capacity", "500000", setting.Between(0, most),
		"cost that one caller may spend at once, one without a token a tenth of it; 0 is without limit")
	setting.Add(fs, &s.bucket.PerSecond, "cost-per-second", "100000", setting.Between(0, most),
		"cost that comes back to a caller in a second, to one without a token a tenth of it; 0 is without limit")

	setting.Add(fs, &s.streams.Open, "max-streams", strconv.Itoa(streams.Open), count,
		"event streams and sockets that may be open at once")
	setting.Add(fs, &s.streams.PerCaller, "max-streams-per-caller", "100", setting.Between(0, most),
		"event streams and sockets that one caller may have open at once; 0 is without limit")
	setting.Add(fs, &s.perOrganization, "max-streams-per-organization", "half", halfOr(0, most),
		"event streams and sockets that the callers of one organization may have open at once; "+
			"half is half of --max-streams, 0 is without limit")
	setting.Add(fs, &s.streams.Handshakes, "max-handshakes", strconv.Itoa(streams.Handshakes), count,
		"sockets that may be open and not acknowledged yet")

	setting.Add(fs, &s.maxOperations, "max-operations", "0", setting.Between(0, most),
		"operations of GraphQL and requests of REST executed at once; more wait, and their callers take turns; "+
			"0 stands for 8 for each processor")
	setting.Add(fs, &s.maxRequests, "max-requests-per-caller", "64", setting.Between(0, most),
		"requests that one caller may have in flight at once; 0 is without limit")

	setting.Add(fs, &s.streams.Operations, "max-subscriptions", strconv.Itoa(streams.Operations), count,
		"operations that a socket may run at once")
	setting.Add(fs, &s.maxMessage, "max-message", setting.SizeText(int(streams.Message)), setting.Size,
		"longest message that a socket may send")
	setting.Add(fs, &s.streams.InitTimeout, "init-timeout", setting.DurationText(streams.InitTimeout),
		setting.AtLeast(time.Millisecond), "how long a socket may take to say who it is")
	setting.Add(fs, &s.streams.WriteTimeout, "write-timeout", setting.DurationText(streams.WriteTimeout),
		setting.AtLeast(time.Millisecond),
		"how long a caller may take over one message of a socket, or over 16 KiB of any other answer")
	setting.Add(fs, &s.streams.Heartbeat, "heartbeat", setting.DurationText(streams.Heartbeat),
		setting.AtLeast(time.Millisecond), "time between the signs of life on a stream or socket")
}

// maxTrustedFile is the longest file of trusted documents, in bytes.
const maxTrustedFile = 4 << 20

// readTrusted reads the file of trusted documents, if there is one.
func (s *settings) readTrusted() error {
	if s.trustedDocuments == "" {
		if s.trustedOnly {
			return setting.Usagef("--trusted-only: want --trusted-documents beside it, found none")
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
