// Package origin says which pages of other origins may use the API. Browsers, and all that they open, requests,
// event streams and sockets, are judged by the one matcher that is here.
package origin

import (
	"net/http"
	"net/url"
	"strings"
)

// Pattern is what one entry of a list allows: an origin, any port of a loopback host, or every origin.
type Pattern struct {
	// origin is as browsers send it, without its port where any will do, and empty where every origin will.
	origin  string
	anyPort bool
}

// Allowed is which origins may use the API: its own, and those that were listed.
type Allowed struct {
	exact, anyPort map[string]bool
	every          bool
}

// New returns what a list allows. baseURL is where the API is reached, whose origin is its own; it may be empty.
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

// Admits reports whether the page that sent a request may use the API. That every origin may holds for no
// request with a cookie, and for no socket with an Authorization: these are not the page's own, because it
// sends no cookies here and cannot set a socket's headers. A proxy may have put them there, or the browser.
func (a Allowed) Admits(r *http.Request) bool {
	sent := r.Header.Values("Origin")
	if len(sent) != 1 {
		return false
	}
	switch {
	case a.lists(sent[0]), isOwn(sent[0], r.Host):
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

// isOwn reports whether a page was served under the name that the request is for. Whether that was by HTTPS is
// not known here, where a proxy ends it.
func isOwn(origin, host string) bool {
	return host != "" && (origin == serialized("http", host) || origin == serialized("https", host))
}

// withoutPort returns an origin without its port, and as it is where there is none.
func withoutPort(origin string) string {
	at := strings.LastIndexByte(origin, ':')
	if at < 0 || !isPort(origin[at+1:]) {
		return origin
	}
	return origin[:at]
}

// defaultPorts are what browsers leave out of an origin.
var defaultPorts = map[string]string{"http": "80", "https": "443"}

// serialized is the origin of a scheme and of a host with or without a port, as browsers send it.
func serialized(scheme, host string) string {
	scheme, host = strings.ToLower(scheme), strings.ToLower(host)
	return scheme + "://" + strings.TrimSuffix(host, ":"+defaultPorts[scheme])
}
