package attacktest_test

import (
	"bytes"
	"context"
	"net/http"
	"strings"
)

// hosts are attacks by whom a request says that it is for, and by what is noted of it.
func hosts() []attack {
	const (
		refused = "421 Request:HOST_REFUSED"
		page    = "/playground/config.json"
		evil    = "rebound.example"
	)
	rebound := func(name, host string, q request, text string) attack {
		q.host = host
		return call(name, refused, q, text)
	}
	upgrade := map[string]string{
		"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
		"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "graphql-transport-ws",
	}
	same := map[string]string{"Sec-Fetch-Site": "same-origin"}
	return []attack{
		rebound("a host that was bound anew", evil, request{}, harmless),
		rebound("a host that was bound anew, with the port", evil+":8080", request{}, harmless),
		rebound("a host that begins as the loopback's", "127.0.0.1."+evil, request{}, harmless),
		rebound("a host that begins as localhost", "localhost."+evil, request{}, harmless),
		rebound("a host that ends as the loopback's", "not-localhost", request{}, harmless),
		rebound("a host of 10 KB", strings.Repeat("a.", 5000)+evil, request{}, harmless),
		rebound("the demo's token under another host", evil, request{method: http.MethodGet, path: page, header: same}, ""),
		rebound("the explorer under another host", evil, request{method: http.MethodGet, path: "/playground", header: same}, ""),
		rebound("REST under another host", evil, request{method: http.MethodGet, path: "/module-definitions", header: asJSON}, ""),
		rebound("a socket under another host", evil, request{method: http.MethodGet, header: upgrade}, ""),
		call("another host that no proxy forwarded", "200", request{header: map[string]string{"X-Forwarded-Host": evil, "Forwarded": "host=" + evil}}, harmless),
		secret("the demo's token without a site", nil),
		secret("the demo's token for another site", map[string]string{"Sec-Fetch-Site": "cross-site"}),
		secret("the demo's token for a site near by", map[string]string{"Sec-Fetch-Site": "same-site"}),
		call("an operation's name of 15 KB", "200", request{}, `{"query":"query `+strings.Repeat("N", 15_000)+` { __typename }"}`),
		call("an operation's name of 200 KB", "400 .+|200", request{}, `{"query":"query N { __typename }","operationName":"`+strings.Repeat("N", 200_000)+`"}`),
		call("a path of 15 KB", "404 Request:NOT_FOUND", request{method: http.MethodGet, path: "/" + strings.Repeat("p", 15_000), header: asJSON}, ""),
		call("a forwarded address of 10 KB", "200", request{header: map[string]string{"X-Forwarded-For": strings.Repeat("10.0.0.1, ", 1000) + "10.0.0.1"}}, harmless),
	}
}

// secret asks for the page's settings, which have the demo's token, as a page does that must not have it.
func secret(name string, header map[string]string) attack {
	return attack{name: name, want: "403.*", run: func(ctx context.Context, c *caller) (string, error) {
		status, body, err := c.with("").exchange(ctx, request{method: http.MethodGet, path: "/playground/config.json", header: header})
		if bytes.Contains(body, []byte("slp_")) {
			return "the token", err
		}
		return verdict(status, body), err
	}}
}
