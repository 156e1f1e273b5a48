package server

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"slipway/internal/base/fault"
)

// otherMethod answers a method that no route of the path takes: OPTIONS with those that it does, and any other
// with a refusal. The router comes here with methods that it has never heard of, whatever the path is.
func otherMethod(f fail, notFound http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		allow := allowed(r)
		if allow == "" {
			notFound(w, r)
			return
		}
		w.Header().Set("Allow", allow)
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		f(w, r, fault.New(fault.RequestMethodNotAllowed, "The path takes %s; found %.20s.", allow, r.Method))
	}
}

// allowed lists the methods that the request's path takes, "" if nothing is there. HEAD goes wherever GET does,
// and OPTIONS everywhere.
func allowed(r *http.Request) string {
	routes, path := chi.RouteContext(r.Context()).Routes, r.URL.EscapedPath()
	var list []string
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodPatch} {
		if !routes.Match(chi.NewRouteContext(), m, path) {
			continue
		}
		list = append(list, m)
		if m == http.MethodGet {
			list = append(list, http.MethodHead)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return strings.Join(append(list, http.MethodOptions), ", ")
}

// readOnly adds a page that is only read to a mux.
func readOnly(mux *http.ServeMux, path string, h http.HandlerFunc) {
	mux.HandleFunc("GET "+path, h)
	mux.HandleFunc("OPTIONS "+path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", "GET, HEAD, OPTIONS")
		w.WriteHeader(http.StatusNoContent)
	})
}
