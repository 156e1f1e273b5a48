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

// root is the path of the explorer. The page links to its files by "playground/…", so that it works behind a proxy that
// serves it under a longer path.
const (
	root       = "/playground"
	configPath = root + "/config.json"
)

// dist has what npm has built. Without npm it is an empty folder.
//
//go:embed all:dist
var dist embed.FS

//go:embed lite
var lite embed.FS

// Config is the configuration of the explorer's page.
type Config struct {
	// Token fills the page's token field. Everybody who can open the page can read it, so it is for throw-away
	// servers only. It is sent only to browsers that confirm that the request is from this server's page.
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
	// Tab opens the example in a tab from the start, if the page has tabs.
	Tab bool `json:"tab"`
}

// GraphiQL returns the files of GraphiQL in the binary, each compressed: index.html.gz, and the others below assets. A
// binary that was built without npm has none.
func GraphiQL() fs.FS { return below(dist, "dist/playground") }

// Explorer serves the GraphQL explorer at /playground, with its files below: the given GraphiQL, or the small page if
// that has no files. Mount it there, at "/playground" and "/playground/", without stripping the
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
			w.Header().Add("Vary", site)
			if found, ok := ownPage(r.Header, cfg.Token != ""); !ok {
				http.Error(
					w,
					fmt.Sprintf(
						"%s is for the explorer's own page: %s must be same-origin or none, found %.40q.", configPath, site, found,
					),
					http.StatusForbidden,
				)
				return
			}
		}

		f.serve(w, r)
	})
}

// page serves files by the path of their URL, to GET and HEAD, with the content security policy and the other headers
// that protect them. It redirects from the page's path with a slash at its end to the path without.
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
			http.Error(
				w, fmt.Sprintf("The method of %s must be GET or HEAD, not %s.", at, r.Method), http.StatusMethodNotAllowed,
			)
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

// site is the header by which a browser tells the site of the page that sends a request. Pages cannot set it.
const site = "Sec-Fetch-Site"

// ownPage reports whether a request is sent by a page of this server or by its user, and returns the value of the site
// header. Browsers do not send the header over plain HTTP to other machines, and other programs never do; a request
// without it is accepted only if no secret is at stake.
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

// methods are the methods that the files of a page accept.
const methods = "GET, HEAD, OPTIONS"

// The content security policies, which allow a page to load from and connect to its own server only. The editors of
// GraphiQL add styles at run time and use workers.
var (
	plainPolicy    = policyOf("style-src 'self'", "img-src 'self' data:")
	graphiqlPolicy = policyOf(
		"style-src 'self' 'unsafe-inline'", "worker-src 'self'", "font-src 'self' data:", "img-src 'self' data:",
	)
)

func policyOf(more ...string) string {
	return "default-src 'none'; script-src 'self'; " + strings.Join(more, "; ") +
		"; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// protect sets the headers that bind the page to the policy and keep other pages from framing or reading it.
func protect(h http.Header, policy string) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}
