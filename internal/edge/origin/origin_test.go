package origin_test

import (
	"crypto/tls"
	"net/http/httptest"
	"strings"
	"testing"

	"slipway/internal/edge/origin"
)

func allowed(t *testing.T, baseURL string, list ...string) origin.Allowed {
	t.Helper()
	var patterns []origin.Pattern
	for _, text := range list {
		p, err := origin.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		patterns = append(patterns, p)
	}
	return origin.New(baseURL, patterns)
}

func TestWhichOriginsAreAllowed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		list     []string
		admitted []string
		refused  []string
	}{
		{
			list:     nil,
			admitted: []string{"http://api.example:8080", "https://api.example:8080", "https://base.example"},
			refused:  []string{"http://api.example", "http://base.example", "https://base.example:8080", "https://app.example", "null", ""},
		},
		{
			list:     []string{"https://app.example", "http://app.example:3000", "http://192.0.2.1", "https://[2001:db8::1]:8443", "https://xn--bcher-kva.example"},
			admitted: []string{"https://app.example", "http://app.example:3000", "http://192.0.2.1", "https://[2001:db8::1]:8443", "https://xn--bcher-kva.example", "http://api.example:8080"},
			refused: []string{
				"http://app.example", "https://app.example:3000", "https://app.example:443", "https://app.example/", "https://app.example.", "https://App.example",
				"HTTPS://app.example", "https://app.example.evil.example", "https://evil-app.example", "https://x.app.example", "https://app.example, https://app.example",
				"https://bücher.example", "http://192.0.2.1:80", "http://[2001:db8::1]:8443", "https://[2001:db8:0::1]:8443", "null", "*", "app.example", "//app.example",
			},
		},
		{
			list: []string{"http://localhost:*", "http://127.0.0.1:*", "https://[::1]:*", "http://app.localhost:*"},
			admitted: []string{
				"http://localhost", "http://localhost:1", "http://localhost:5173", "http://localhost:65535", "http://127.0.0.1:3000", "https://[::1]:8443", "https://[::1]",
				"http://app.localhost:3000",
			},
			refused: []string{
				"https://localhost:5173", "http://localhost:80.evil.example", "http://localhost:5173/", "http://localhost:5173:1", "http://localhost:", "http://localhost:0",
				"http://localhost:080", "http://localhost:65536", "http://localhost:-1", "http://localhost:+1", "http://localhost.evil.example:5173", "http://localhost@evil.example:80",
				"http://127.0.0.2:3000", "http://127.0.0.1.evil.example:3000", "http://[::1]:8443", "https://[::2]:8443", "http://x.localhost:3000", "null",
			},
		},
		{
			list:     []string{"*"},
			admitted: []string{"https://app.example", "http://localhost:1", "null", "chrome-extension://abc"},
			refused:  []string{""},
		},
	} {
		a := allowed(t, "https://Base.example:443/slipway", c.list...)
		judge := func(sent string, want bool) {
			r := httptest.NewRequest("POST", "http://API.example:8080/graphql", nil)
			if sent != "" {
				r.Header.Set("Origin", sent)
			}
			if got := a.Admits(r); got != want {
				t.Errorf("%v admits %q: %t", c.list, sent, got)
			}
		}
		for _, sent := range c.admitted {
			judge(sent, true)
		}
		for _, sent := range c.refused {
			judge(sent, false)
		}
	}
}

func TestTheOwnOriginIsThatOfTheHostWithAndWithoutItsPort(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		host, sent string
		own        bool
	}{
		{"api.example", "http://api.example", true},
		{"api.example", "https://api.example", true},
		{"api.example:443", "https://api.example", true},
		{"api.example:80", "http://api.example", true},
		{"api.example:80", "https://api.example", false},
		{"[::1]:8080", "http://[::1]:8080", true},
		{"LocalHost:8080", "http://localhost:8080", true},
		{"localhost:8080", "http://localhost:8081", false},
		{"", "http://", false},
	} {
		r := httptest.NewRequest("POST", "/graphql", nil)
		r.Host = c.host
		r.Header.Set("Origin", c.sent)
		if got := allowed(t, "").Admits(r); got != c.own {
			t.Errorf("%s is the own origin of the Host %q: %t", c.sent, c.host, got)
		}
		r.TLS = &tls.ConnectionState{}
		if got, want := allowed(t, "").Admits(r), c.own && strings.HasPrefix(c.sent, "https:"); got != want {
			t.Errorf("over TLS, %s is the own origin of the Host %q: %t", c.sent, c.host, got)
		}
	}
}

func TestEveryOriginHoldsForNoRequestWithWhatThePageDidNotPutThere(t *testing.T) {
	t.Parallel()
	const upgrade = "Upgrade"
	for _, c := range []struct {
		headers       []string
		every, listed bool
	}{
		{nil, true, true},
		{[]string{"Authorization"}, true, true},
		{[]string{"Cookie"}, false, true},
		{[]string{upgrade}, true, true},
		{[]string{upgrade, "Authorization"}, false, true},
		{[]string{upgrade, "Cookie"}, false, true},
	} {
		r := httptest.NewRequest("GET", "/graphql", nil)
		r.Header.Set("Origin", "https://app.example")
		for _, name := range c.headers {
			r.Header.Set(name, "x")
		}
		if got := allowed(t, "", "*").Admits(r); got != c.every {
			t.Errorf("%v: every origin is admitted: %t", c.headers, got)
		}
		if got := allowed(t, "", "*", "https://app.example").Admits(r); got != c.listed {
			t.Errorf("%v: a listed origin is admitted: %t", c.headers, got)
		}
	}
	r := httptest.NewRequest("GET", "/graphql", nil)
	r.Header["Origin"] = []string{"https://app.example", "https://app.example"}
	if allowed(t, "", "*", "https://app.example").Admits(r) {
		t.Error("two origins are admitted")
	}
}

func TestWhatIsNotAnOriginIsRefusedByName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                          "want an origin such as https://app.example",
		"app.example":               "want an origin such as https://app.example",
		"ftp://app.example":         "want an origin such as https://app.example",
		"null":                      "only * allows it",
		"https://App.example":       "in lower case, as browsers send it: https://app.example",
		"HTTPS://app.example":       "in lower case",
		"https://app.example/":      "no user, path, query or slash at its end",
		"https://app.example/path":  "no user, path",
		"https://app.example?x":     "no user, path",
		"https://me@app.example":    "no user, path",
		"https://app.example:443":   "without the port that its scheme has anyway, as browsers send it: https://app.example,",
		"http://[::1]:80":           "as browsers send it: http://[::1],",
		"https://app.example:":      "a port from 1 to 65535",
		"https://app.example:0":     "a port from 1 to 65535",
		"https://app.example:65536": "a port from 1 to 65535",
		"https://app.example:0443":  "a port from 1 to 65535",
		"https://app.example:x":     "a port from 1 to 65535",
		"https://bücher.example":    "begin with xn--",
		"https://app.example https": "in ASCII",
		"https://*.example":         "* stands alone",
		"https://*":                 "* stands alone",
		"*:*":                       "want an origin such as",
		"https://app.example:*":     "* stands for any port of a loopback host alone",
		"http://192.0.2.1:*":        "* stands for any port of a loopback host alone",
		"http://127.1":              "the name or address of a host",
		"http://127.0.0.01":         "the name or address of a host",
		"http://0x7f000001":         "the name or address of a host",
		"http://2130706433":         "the name or address of a host",
		"http://[0:0:0:0:0:0:0:1]":  "the address as browsers write it: ::1",
		"http://[::ffff:127.0.0.1]": "the name or address of a host",
		"http://[fe80::1%eth0]":     "the name or address of a host",
		"http://::1":                "the name or address of a host",
		"http://[::1":               "the name or address of a host",
		"http://[127.0.0.1]":        "the name or address of a host",
		"https://":                  "the name or address of a host",
		"https://.example":          "the name or address of a host",
		"https://app..example":      "the name or address of a host",
		"https://app.example.":      "the name or address of a host",
		"https://-app.example":      "the name or address of a host",
		"https://app.example,https": "the name or address of a host",
	} {
		_, err := origin.Parse(text)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "want ") || !strings.Contains(err.Error(), "found ") {
			t.Errorf("%q: %v, want %q in it", text, err, want)
		}
	}
}
