package server

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"slipway/internal/base/fault"
	"slipway/internal/edge/httpx"
)

// loopbackOnly refuses requests under a name that is not this server's. A page of any site may give its own
// name the address 127.0.0.1, and would then read what is served here as its own origin. What a trusted
// proxy brings is under the proxy's name.
func loopbackOnly(baseURL string, f fail) func(http.Handler) http.Handler {
	own := ""
	if u, err := url.Parse(baseURL); err == nil {
		own = hostName(u.Host)
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			name := hostName(r.Host)
			if isLoopback(name) || own != "" && name == own || httpx.ByTrustedProxy(r.Context()) {
				next.ServeHTTP(w, r)
				return
			}
			f(w, r, fault.New(fault.RequestHostRefused,
				"This server answers under localhost and the host of its --base-url; found the Host %.100q. A proxy's requests "+
					"are taken where --trusted-proxies has its address.", r.Host))
		})
	}
}

// underLoopback serves requests whose Host is this machine and refuses others, for a listener on a loopback address
// that has no errors of the API.
func underLoopback(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLoopback(hostName(r.Host)) {
			say(w, http.StatusMisdirectedRequest, "this listener is on a loopback address and answers under localhost only; "+
				"ask it as localhost or 127.0.0.1")
			return
		}
		h.ServeHTTP(w, r)
	})
}

// hostName is the name or address of a Host header, without its port and in lower case.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// isLoopback reports whether a host leads nowhere but to the machine that asks: no name server has localhost
// or a name below it.
func isLoopback(name string) bool {
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	address, err := netip.ParseAddr(name)
	return err == nil && address.Unmap().IsLoopback()
}
