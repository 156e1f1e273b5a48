// Package web serves the pages that are built into the binary.
package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

// root is where the explorer lives. The page links to its files by "playground/…", so that it works
// behind a proxy that serves it under a longer path.
const (
	root       = "/playground"
	configPath = root + "/config.json"
)

//go:embed lite
var lite embed.FS

// types gives the media type by the file's ending; the operating system's own list is not asked,
// since it differs from one to the next.
var types = map[string]string{
	".css":  "text/css; charset=utf-8",
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".json": "application/json",
	".svg":  "image/svg+xml",
}

// Config is what the explorer's page asks of its server.
type Config struct {
	// Token fills the page's token field. Whoever can open the page can read it, so it is for
	// throw-away servers only. It goes to browsers alone that say that the page is this server's.
	Token string `json:"token"`
	// Endpoint is the path that queries are posted to, "/graphql" when empty.
	Endpoint string `json:"endpoint"`
	// Examples are offered on the page; the first is in the editor at the start.
	Examples []Example `json:"examples"`
}

// Example is a request that the page offers.
type Example struct {
	Name  string `json:"name"`
	Query string `json:"query"`
	// Variables is a JSON object as text, or empty.
	Variables string `json:"variables"`
}

// file is one thing to serve, with the entity tag of its content.
type file struct {
	content []byte
	media   string
	tag     string
}

// Explorer serves the GraphQL explorer at /playground, with its files below. Mount it there, at
// "/playground" and "/playground/", without stripping the prefix.
func Explorer(cfg Config) http.Handler {
	files := filesOf(lite, "lite", root)
	files[configPath] = newFile("config.json", settings(cfg))
	return page(root, files, func(w http.ResponseWriter, r *http.Request, f file) {
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

// page lets reads of the files through, which are by the path of their URL, under the headers that protect them.
// A slash behind the page's own path is taken away.
func page(at string, files map[string]file, serve func(http.ResponseWriter, *http.Request, file)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protect(w.Header())
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
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

func (f file) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", f.media)
	w.Header().Set("ETag", f.tag)
	w.Header().Set("Cache-Control", "no-cache")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.content))
}

// filesOf lists the files of an embedded folder by the path of their URL, its index.html as the page itself.
func filesOf(folder embed.FS, name, at string) map[string]file {
	files := map[string]file{}
	entries, err := folder.ReadDir(name)
	if err != nil {
		panic(fmt.Errorf("web: embedded files: %w", err))
	}
	for _, entry := range entries {
		content, err := fs.ReadFile(folder, path.Join(name, entry.Name()))
		if err != nil {
			panic(fmt.Errorf("web: embedded files: %w", err))
		}
		target := at + "/" + entry.Name()
		if entry.Name() == "index.html" {
			target = at
		}
		files[target] = newFile(entry.Name(), content)
	}
	return files
}

func newFile(name string, content []byte) file {
	sum := sha256.Sum256(content)
	return file{content: content, media: types[path.Ext(name)], tag: `"` + hex.EncodeToString(sum[:16]) + `"`}
}

func settings(cfg Config) []byte {
	if cfg.Endpoint == "" {
		cfg.Endpoint = "/graphql"
	}
	if cfg.Examples == nil {
		cfg.Examples = []Example{}
	}
	text, err := json.Marshal(cfg)
	if err != nil {
		panic(fmt.Errorf("web: explorer settings: %w", err))
	}
	return text
}

// protect sets the headers under which the page can load and reach nothing but its own server, and
// no other page can hold or read it.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", strings.Join([]string{
		"default-src 'none'",
		"script-src 'self'",
		"style-src 'self'",
		"connect-src 'self'",
		"img-src 'self' data:",
		"base-uri 'none'",
		"form-action 'none'",
		"frame-ancestors 'none'",
	}, "; "))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}
