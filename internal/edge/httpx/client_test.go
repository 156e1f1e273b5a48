package httpx_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"slipway/internal/edge/httpx"
)

const (
	inner = "10.0.0.1:999" // of a trusted proxy
	outer = "192.0.2.9:999"
)

func TestTheClientIsThePeerOrWhomATrustedProxyNames(t *testing.T) {
	t.Parallel()
	proxies := networks(t, "10.0.0.0/8", "2001:db8:1::/48", "fe80::/10")
	for name, c := range map[string]struct {
		trusted   []netip.Prefix
		peer      string
		forwarded []string
		want      string
		proxied   bool
	}{
		"no proxies":                        {nil, inner, []string{"203.0.113.5"}, "10.0.0.1", false},
		"a peer that is no proxy":           {proxies, outer, []string{"203.0.113.5"}, "192.0.2.9", false},
		"a proxy that names nobody":         {proxies, inner, nil, "10.0.0.1", true},
		"one hop":                           {proxies, inner, []string{"203.0.113.5"}, "203.0.113.5", true},
		"what the client made up":           {proxies, inner, []string{"1.1.1.1, 203.0.113.5"}, "203.0.113.5", true},
		"two trusted hops":                  {proxies, inner, []string{"1.1.1.1, 203.0.113.5, 10.9.9.9"}, "203.0.113.5", true},
		"two headers":                       {proxies, inner, []string{"203.0.113.5", "10.9.9.9"}, "203.0.113.5", true},
		"all trusted":                       {proxies, inner, []string{"10.1.1.1, 10.2.2.2"}, "10.0.0.1", true},
		"a port":                            {proxies, inner, []string{"203.0.113.5:80"}, "10.0.0.1", true},
		"brackets":                          {proxies, inner, []string{"[2001:db8::5]"}, "10.0.0.1", true},
		"a name":                            {proxies, inner, []string{"unknown"}, "10.0.0.1", true},
		"a name left of a trusted hop":      {proxies, inner, []string{"203.0.113.5, unknown, 10.9.9.9"}, "10.0.0.1", true},
		"a name left of the client":         {proxies, inner, []string{"unknown, 203.0.113.5"}, "203.0.113.5", true},
		"empty parts":                       {proxies, inner, []string{" , 203.0.113.5 ,, "}, "203.0.113.5", true},
		"IPv6":                              {proxies, "[2001:db8:1::1]:9", []string{"2001:db8:2::5"}, "2001:db8:2::5", true},
		"IPv4 in IPv6":                      {proxies, "[::ffff:10.0.0.1]:9", []string{"::ffff:203.0.113.5"}, "203.0.113.5", true},
		"a trusted hop as IPv4 in IPv6":     {proxies, inner, []string{"203.0.113.5, ::ffff:10.9.9.9"}, "203.0.113.5", true},
		"a peer with a zone":                {proxies, "[fe80::1%eth0]:9", []string{"203.0.113.5"}, "203.0.113.5", true},
		"a trusted hop with a made-up zone": {proxies, inner, []string{"203.0.113.5, fe80::2%x"}, "203.0.113.5", true},
		"no address":                        {proxies, "@", []string{"203.0.113.5"}, "invalid IP", false},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = c.peer
		r.Header["X-Forwarded-For"] = c.forwarded
		r.Header.Set("Forwarded", "for=198.51.100.1")
		r.Header.Set("X-Real-Ip", "198.51.100.2")
		r.Header.Set("X-Forwarded-Host", "other.example")
		called := false
		httpx.Client(c.trusted)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			called = true
			if got := httpx.ClientAddress(r.Context()).String(); got != c.want {
				t.Errorf("%s: the client is %s, want %s", name, got, c.want)
			}
			if got := httpx.ByTrustedProxy(r.Context()); got != c.proxied {
				t.Errorf("%s: by a trusted proxy: %t", name, got)
			}
			if r.Host != "example.com" {
				t.Errorf("%s: the host is %s", name, r.Host)
			}
		})).ServeHTTP(nil, r)
		if !called {
			t.Errorf("%s: not served", name)
		}
	}
}

func TestTheClientsNetworkIsAnAddressOrA64(t *testing.T) {
	t.Parallel()
	for peer, want := range map[string]string{
		"192.0.2.9:1":           "192.0.2.9/32",
		"[::ffff:192.0.2.9]:1":  "192.0.2.9/32",
		"[2001:db8::1]:1":       "2001:db8::/64",
		"[2001:db8::ffff:1]:1":  "2001:db8::/64",
		"[2001:db8:0:1::1]:1":   "2001:db8:0:1::/64",
		"[fe80::1%eth0]:1":      "fe80::/64",
		"@":                     "invalid Prefix",
		"192.0.2.9":             "invalid Prefix",
		strings.Repeat("1", 99): "invalid Prefix",
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = peer
		httpx.Client(nil)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if got := httpx.ClientNetwork(r.Context()).String(); got != want {
				t.Errorf("%s: %s, want %s", peer, got, want)
			}
		})).ServeHTTP(nil, r)
	}
	if a := httpx.ClientAddress(t.Context()); a.IsValid() || httpx.ByTrustedProxy(t.Context()) {
		t.Errorf("without the middleware the client is %s", a)
	}
}

func networks(t *testing.T, texts ...string) []netip.Prefix {
	t.Helper()
	var list []netip.Prefix
	for _, text := range texts {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}
