package server

import (
	"net/http"
	"net/http/pprof"
)

// Profiles serves Go's profiles at /debug/pprof/, for a listener of their own. With loopbackOnly it answers
// only where the Host is this machine: the command line is among what it tells.
func Profiles(loopbackOnly bool) http.Handler {
	mux := http.NewServeMux()
	readOnly(mux, "/debug/pprof/", pprof.Index)
	readOnly(mux, "/debug/pprof/cmdline", pprof.Cmdline)
	readOnly(mux, "/debug/pprof/profile", pprof.Profile)
	readOnly(mux, "/debug/pprof/symbol", pprof.Symbol)
	readOnly(mux, "/debug/pprof/trace", pprof.Trace)
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
