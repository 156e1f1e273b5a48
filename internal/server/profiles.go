package server

import (
	"net/http"
	"net/http/pprof"
)

// Profiles serves Go's profiles at /debug/pprof/, for a listener of their own. With loopbackOnly it answers
// only if the Host is this machine: the profiles include the command line.
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
	return underLoopback(mux)
}
