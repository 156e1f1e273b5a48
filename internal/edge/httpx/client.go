// Package httpx has what GraphQL and REST ask of HTTP alike, so that both answer it in one way: which media types a
// caller accepts and sends, how much of a body is read, whom a request comes from and what its limits are counted by,
// how many connections an address may have, entity tags, and the header that names the organization. It reads requests
// and refuses what is wrong with them as package fault has it; what to make of the rest is up to each surface.
package httpx

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"

	"github.com/go-chi/chi/v5/middleware"
)

type clientKey struct{}

// client is whom a request comes from.
type client struct {
	address netip.Addr
	proxied bool
}

// Client returns middleware that finds the address of each request's client: the peer of its connection,
// or, if the peer is a trusted proxy, the rightmost address of X-Forwarded-For that is none. If that
// has no such address (it has ports, brackets or names, or all are trusted), it is the peer again. The
// header Forwarded is not looked at, because proxies pass on what a client put there.
func Client(trusted []netip.Prefix) func(http.Handler) http.Handler {
	forwarded := func(next http.Handler) http.Handler { return next }
	if len(trusted) > 0 {
		forwarded = middleware.ClientIPFromXFF(texts(trusted)...)
	}
	return func(next http.Handler) http.Handler {
		return forwarded(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			peer := parsePeer(r.RemoteAddr)
			c := client{
				address: cmp.Or(middleware.GetClientIPAddr(r.Context()), peer),
				proxied: contains(trusted, peer),
			}
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), clientKey{}, c)))
		}))
	}
}

// ClientAddress returns the address that Client found, the zero Addr if there is none.
func ClientAddress(ctx context.Context) netip.Addr { return clientOf(ctx).address }

// ClientNetwork returns what the limits of an address count for: an IPv4 address, or the /64 of an IPv6
// one, which is what one customer of a provider has. All that has no address shares the zero Prefix.
func ClientNetwork(ctx context.Context) netip.Prefix { return network(clientOf(ctx).address) }

// ByTrustedProxy reports whether the peer of the request's connection is a trusted proxy.
func ByTrustedProxy(ctx context.Context) bool { return clientOf(ctx).proxied }

func clientOf(ctx context.Context) client {
	c, _ := ctx.Value(clientKey{}).(client)
	return c
}

func network(a netip.Addr) netip.Prefix {
	bits := 64
	if a.Is4() {
		bits = 32
	}
	// The widths are within those of their families, which is all that Prefix refuses.
	p, _ := a.WithZone("").Prefix(bits)
	return p
}

// parsePeer returns the address of a connection's other end, the zero Addr if it has none.
func parsePeer(remote string) netip.Addr {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}

// contains reports whether one of the networks has the address, whatever its zone.
func contains(networks []netip.Prefix, a netip.Addr) bool {
	for _, p := range networks {
		if p.Contains(a.WithZone("")) {
			return true
		}
	}
	return false
}

func texts(networks []netip.Prefix) []string {
	list := make([]string, len(networks))
	for i, p := range networks {
		list[i] = p.String()
	}
	return list
}
