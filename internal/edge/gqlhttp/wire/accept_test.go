package wire_test

import (
	"net/http"
	"testing"

	"slipway/internal/edge/gqlhttp/wire"
	"slipway/internal/edge/httpx"
)

func TestTheMediaTypeFollowsAccept(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]string{
		"":                                  httpx.MediaJSON,
		"*/*":                               httpx.MediaJSON,
		"application/*":                     httpx.MediaJSON,
		"application/json":                  httpx.MediaJSON,
		"APPLICATION/JSON":                  httpx.MediaJSON,
		"application/json; charset=UTF-8":   httpx.MediaJSON,
		"application/graphql-response+json": wire.MediaGraphQL,
		"application/graphql-response+json, application/json":                      wire.MediaGraphQL,
		"application/json, application/graphql-response+json":                      wire.MediaGraphQL,
		"application/json, application/graphql-response+json;q=0.9":                httpx.MediaJSON,
		"application/json;q=0.5, application/graphql-response+json;q=0.7":          wire.MediaGraphQL,
		"application/graphql-response+json;q=0.5, */*;q=0.9":                       httpx.MediaJSON,
		"application/json;q=0, */*":                                                wire.MediaGraphQL,
		"application/json;q=x, application/graphql-response+json;q=0.1":            wire.MediaGraphQL,
		"application/graphql-response+json; charset=latin1, application/json;q=.1": httpx.MediaJSON,
		"text/html, */*;q=0.1":                                                     httpx.MediaJSON,
		"application/json;q=2, application/graphql-response+json;q=0.1":            wire.MediaGraphQL,
		"text/html":            "",
		"application/*;q=0":    "",
		"text/event-stream":    "",
		"application/json;q=2": "",
	} {
		if got := wire.Negotiate(wire.Accepted(http.Header{"Accept": {accept}})); got != want {
			t.Errorf("%q: %q, want %q", accept, got, want)
		}
	}
}

func TestStreamsOfEventsAreForThoseWhoNameThem(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]struct{ named, first bool }{
		"":                                    {false, false},
		"*/*":                                 {false, false},
		"text/*":                              {false, false},
		"text/event-stream":                   {true, true},
		"text/event-stream;q=0":               {false, false},
		"text/event-stream, */*;q=0.9":        {true, true},
		"text/event-stream, application/json": {true, false},
		"text/event-stream;q=0.5, */*;q=0.1":  {true, true},
		"text/event-stream;q=0.1, */*;q=0.5":  {true, false},
		"text/event-stream;q=2, text/*;q=0.5": {false, false},
		"application/graphql-response+json;q=0.2, text/event-stream;q=0.3": {true, true},
	} {
		if named, first := wire.NegotiateEvents(wire.Accepted(http.Header{"Accept": {accept}})); named != want.named || first != want.first {
			t.Errorf("%q: %t %t, want %v", accept, named, first, want)
		}
	}
}
