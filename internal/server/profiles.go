package server

import (
	"net/http"
	"net/http/pprof"
)

// Profiles serves Go's profiles at /debug/pprof/, for a listener of their own. With loopbackOnly it answers
// only where the Host is this machine: the command line is among what it tells.
func Profiles(loopbackOnly bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	if !loopbackOnly {
		return mux
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLoopback(hostName(r.Host)) {
			say(w, http.StatusMisdirectedRequest, "profiles are served under localhost only")
			return
		}
		mux.ServeHTTP(w, r)
	})
}
