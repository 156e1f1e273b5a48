// Package web serves the pages that are built into the binary.
package web

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
)

// root is where the explorer lives. The page links to its files by "playground/…", so that it works
// behind a proxy that serves it under a longer path.
const (
	root       = "/playground"
	configPath = root + "/config.json"
)

// dist has what npm has built. Without npm it has nothing but the folder.
//
//go:embed all:dist
var dist embed.FS

//go:embed lite
var lite embed.FS

// Config is what the explorer's page asks of its server.
type Config struct {
	// Token fills the page's token field. Whoever can open the page can read it, so it is for
	// throw-away servers only. It goes to browsers alone that say that the page is this server's.
	Token string `json:"token"`
	// Examples are offered on the page.
	Examples []Example `json:"examples"`
}

// Example is a request that the page offers.
type Example struct {
	Name  string `json:"name"`
	Query string `json:"query"`
	// Variables is a JSON object as text, or empty.
	Variables string `json:"variables"`
	// Tab has it open in a tab from the start, where the page has tabs.
	Tab bool `json:"tab"`
}

// GraphiQL gives the files of GraphiQL as they are in the binary, each compressed: index.html.gz, and the rest
// below assets. There are none in a binary that was built without npm.
func GraphiQL() fs.FS { return below(dist, "dist/playground") }

// Explorer serves the GraphQL explorer at /playground, with its files below: the given GraphiQL, or the small
// page where that has no files. Mount it there, at "/playground" and "/playground/", without stripping the
// prefix.
func Explorer(cfg Config, graphiql fs.FS) http.Handler {
	policy := graphiqlPolicy
	if _, err := fs.Stat(graphiql, "index.html"+compressed); errors.Is(err, fs.ErrNotExist) {
		graphiql, policy = below(lite, "lite"), plainPolicy
	}
	files := filesOf(graphiql, root)
	files[configPath] = newFile("config.json", settings(cfg))
	return page(root, policy, files, func(w http.ResponseWriter, r *http.Request, f file) {
		if r.URL.Path == configPath {
			w.Header().Set("Vary", site)
			if found, ok := ownPage(r.Header, cfg.Token != ""); !ok {
				http.Error(w, fmt.Sprintf("%s is for the explorer's own page: %s must be same-origin or none, found %.40q.", configPath, site, found), http.StatusForbidden)
				return
			}
		}
		f.serve(w, r)
	})
}

// page lets reads of the files through, which are by the path of their URL, under the policy and the other headers
// that protect them. A slash behind the page's own path is taken away.
func page(at, policy string, files map[string]file, serve func(http.ResponseWriter, *http.Request, file)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protect(w.Header(), policy)
		switch r.Method {
		case http.MethodGet, http.MethodHead:
		case http.MethodOptions:
			w.Header().Set("Allow", methods)
			w.WriteHeader(http.StatusNoContent)
			return
		default:
			w.Header().Set("Allow", methods)
			http.Error(w, fmt.Sprintf("The method of %s must be GET or HEAD, not %s.", at, r.Method), http.StatusMethodNotAllowed)
			return
		}
		if r.URL.Path == at+"/" {
			w.Header().Set("Location", ".."+at)
			w.WriteHeader(http.StatusPermanentRedirect)
			return
		}
		f, ok := files[r.URL.Path]
		if !ok {
			http.Error(w, fmt.Sprintf("There is no such file. The page is %s.", at), http.StatusNotFound)
			return
		}
		serve(w, r, f)
	})
}

// site is the header in which a browser says whose page sends a request. No page can set it.
const site = "Sec-Fetch-Site"

// ownPage reports whether a request is sent by a page of this server, or by a person, and gives what says
// so. Browsers leave the header out on plain HTTP to other machines, and other programs always: that is
// enough only where there is no secret.
func ownPage(h http.Header, secret bool) (found string, is bool) {
	found = strings.Join(h.Values(site), ", ")
	switch found {
	case "same-origin", "none":
		return found, true
	case "":
		return found, !secret
	default:
		return found, false
	}
}

func below(files fs.FS, folder string) fs.FS {
	sub, err := fs.Sub(files, folder)
	if err != nil {
		panic(fmt.Errorf("web: embedded files: %w", err))
	}
	return sub
}

func settings(cfg Config) []byte {
	if cfg.Examples == nil {
		cfg.Examples = []Example{}
	}
	text, err := json.Marshal(cfg)
	if err != nil {
		panic(fmt.Errorf("web: explorer settings: %w", err))
	}
	return text
}

// methods are what every file of a page takes.
const methods = "GET, HEAD, OPTIONS"

// The policies under which a page can load and reach nothing but its own server. The editors of GraphiQL make
// styles as they go, and think in workers.
var (
	plainPolicy    = policyOf("style-src 'self'", "img-src 'self' data:")
	graphiqlPolicy = policyOf("style-src 'self' 'unsafe-inline'", "worker-src 'self'", "font-src 'self' data:", "img-src 'self' data:")
)

func policyOf(more ...string) string {
	return "default-src 'none'; script-src 'self'; " + strings.Join(more, "; ") +
		"; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// protect sets the headers under which the page keeps to the policy, and no other page can hold or read it.
func protect(h http.Header, policy string) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}
