package server

import (
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/cors"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/edge/origin"
	"slipway/internal/edge/requestlog"
)

const (
	// preflightLasts is how long browsers keep the answer to a preflight, in seconds; none keeps it longer.
	preflightLasts = 2 * 60 * 60
	// maxAskedHeaders is how many bytes the names may have of the headers that a page asks to send.
	maxAskedHeaders = 2 << 10
)

// exposed are the headers of answers that pages of other origins may read, beyond those that all may.
var exposed = []string{
	"ETag", "Location", "Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", requestIDHeader,
	"WWW-Authenticate",
	"Slipway-Status",
}

// crossOrigin lets the pages of allowed origins use the API, and refuses what those of others send, reads and
// sockets among it, before anything else is known of the request. So preflights count for no limit. The
// pages beside the API are for their own origin alone. Every header and method is allowed, because the token decides: a
// list would only break tracing. One matcher decides of all; that of go-chi/cors reads http://localhost:* as the
// beginning of a text.
func crossOrigin(allowed origin.Allowed, log *slog.Logger, f fail) func(http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	permit := cors.Handler(cors.Options{
		AllowOriginFunc: func(r *http.Request, _ string) bool { return allowed.Admits(r) },
		AllowedMethods: []string{
			http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		},
		AllowedHeaders: []string{"*"},
		ExposedHeaders: exposed,
		MaxAge:         preflightLasts,
	})

	refused := &refusedOrigins{log: log}
	return func(next http.Handler) http.Handler {
		api := permit(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			page := isPage(r.URL.Path)
			switch {
			case isForeign(r, protection, page) && (page || !allowed.Admits(r)):
				w.Header().Add("Vary", "Origin")
				refused.warn(r)
				f(w, r, refusedOrigin(r, !page && allowed.Every()))
			case page:
				next.ServeHTTP(w, r)
			case isPreflight(r) && asked(r) > maxAskedHeaders:
				f(w, r, fault.New(fault.RequestMalformed, "The names in Access-Control-Request-Headers may have at most %d bytes "+
					"together; found %d.", maxAskedHeaders, asked(r)))
			default:
				api.ServeHTTP(w, r)
			}
		})
	}
}

// isPage reports whether a path is of the pages that are served beside the API. The settings of the explorer may
// hold a token.
func isPage(path string) bool {
	below := func(at string) bool { return path == at || strings.HasPrefix(path, at+"/") }
	return path == "/" || below(pathExplorer) || below(pathDocuments)
}

// isForeign reports whether a browser sends a request for the page of another origin, so that it has to be
// allowed. A page is not kept from links and pictures elsewhere, which have no Origin. Sec-Fetch-Site is believed,
// since no page can set it, and a proxy may have changed the Host that the origin would be compared with.
func isForeign(r *http.Request, protection *http.CrossOriginProtection, page bool) bool {
	if protection.Check(r) != nil {
		return true
	}
	if page || r.Header["Origin"] == nil {
		return false
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return site != "same-origin" && site != "none"
}

// isPreflight reports whether a browser asks what a page may send.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header["Origin"] != nil &&
		r.Header.Get("Access-Control-Request-Method") != ""
}

// asked is how many bytes the names have of the headers that a page asks to send.
func asked(r *http.Request) int {
	return len(strings.Join(r.Header.Values("Access-Control-Request-Headers"), ","))
}

const flagOrigins = "--allowed-origins"

// refusedOrigin is the refusal of what a page sent. every is whether all origins are allowed, as far as that goes.
func refusedOrigin(r *http.Request, every bool) error {
	sent := requestlog.Shorten(strings.Join(r.Header.Values("Origin"), ", "))
	message := "The request was sent by a page of the origin %q, which is not allowed; " + flagOrigins +
		" names those that are."
	if every && sent != "" {
		message = "The request was sent by a page of the origin %q and carries a Cookie, or is for a socket and carries " +
			"Authorization; " +
			"for these " + flagOrigins + " must name the origin, * does not hold."
	}
	e := fault.New(fault.RequestCrossOrigin, message, sent)
	e.Metadata = map[string]any{"origin": sent, "flag": flagOrigins}
	return e
}

// refusedOrigins logs the origins that are refused, because browsers show the refusal to nobody. It logs each once a
// minute, and at most maxLoggedOrigins of them, so that a flood of origins is no flood of lines.
type refusedOrigins struct {
	log    *slog.Logger
	mu     sync.Mutex
	since  time.Time
	logged map[string]bool
}

const (
	logOriginsEvery  = time.Minute
	maxLoggedOrigins = 16
)

func (o *refusedOrigins) warn(r *http.Request) {
	sent := requestlog.Shorten(strings.Join(r.Header.Values("Origin"), ", "))
	if o.isNew(sent, time.Now()) {
		o.log.WarnContext(r.Context(), "refused a page whose origin is not allowed; logged once a minute for each origin",
			"origin", sent, "flag", flagOrigins, "requestId", actor.RequestID(r.Context()))
	}
}

// isNew reports whether an origin is to be logged now, and notes that it was.
func (o *refusedOrigins) isNew(sent string, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.logged == nil || now.Sub(o.since) >= logOriginsEvery {
		o.since, o.logged = now, map[string]bool{}
	}
	if o.logged[sent] || len(o.logged) >= maxLoggedOrigins {
		return false
	}
	o.logged[sent] = true
	return true
}
