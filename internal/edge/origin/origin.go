// Package origin decides which web origins may use the API. The same decision applies to all that a browser opens:
// requests, event streams and WebSockets.
package origin

import (
	"net/http"
	"net/url"
	"strings"
)

// Pattern is one entry of the list of allowed origins: an origin, any port of a loopback host, or every origin.
type Pattern struct {
	// origin is as browsers send it. It has no port if any port is allowed, and is empty if every origin is.
	origin  string
	anyPort bool
}

// Allowed has the origins that may use the API: its own, and those of a list.
type Allowed struct {
	exact, anyPort map[string]bool
	every          bool
}

// New returns the origins that a list allows, and that of baseURL, the address of the API, which may be empty.
func New(baseURL string, list []Pattern) Allowed {
	a := Allowed{exact: map[string]bool{}, anyPort: map[string]bool{}}
	if u, err := url.Parse(baseURL); err == nil && u.Host != "" {
		a.exact[serialized(u.Scheme, u.Host)] = true
	}
	for _, p := range list {
		switch {
		case p.origin == "":
			a.every = true
		case p.anyPort:
			a.anyPort[p.origin] = true
		default:
			a.exact[p.origin] = true
		}
	}
	return a
}

// Every reports whether pages of every origin may use the API.
func (a Allowed) Every() bool { return a.every }

// Admits reports whether the page that sent a request may use the API. The entry for every origin does not admit a
// request with a cookie, nor a WebSocket with an Authorization header: a page cannot set these itself, so the browser
// or a proxy has added the credentials of its user, of whom another site's page could take advantage.
func (a Allowed) Admits(r *http.Request) bool {
	sent := r.Header.Values("Origin")
	if len(sent) != 1 {
		return false
	}
	switch {
	case a.lists(sent[0]), isOwn(sent[0], r):
		return true
	case r.Header["Cookie"] != nil:
		return false
	case r.Header["Upgrade"] != nil && r.Header["Authorization"] != nil:
		return false
	}
	return a.every
}

func (a Allowed) lists(origin string) bool {
	return a.exact[origin] || a.anyPort[origin] || a.anyPort[withoutPort(origin)]
}

// isOwn reports whether the page was served by the host that the request is for. The scheme may be either, because a
// proxy may have terminated TLS; if the request itself has come over TLS it is https, so that a page that somebody
// has put into plain HTTP on the way is not taken for the API's.
func isOwn(origin string, r *http.Request) bool {
	return r.Host != "" && (origin == serialized("https", r.Host) || r.TLS == nil && origin == serialized("http", r.Host))
}

// withoutPort returns an origin without its port, if it has one.
func withoutPort(origin string) string {
	at := strings.LastIndexByte(origin, ':')
	if at < 0 || !isPort(origin[at+1:]) {
		return origin
	}
	return origin[:at]
}

// defaultPorts are the ports that browsers leave out of an origin.
var defaultPorts = map[string]string{"http": "80", "https": "443"}

// serialized returns the origin of a scheme and of a host with or without a port, as browsers send it.
func serialized(scheme, host string) string {
	scheme, host = strings.ToLower(scheme), strings.ToLower(host)
	return scheme + "://" + strings.TrimSuffix(host, ":"+defaultPorts[scheme])
}
