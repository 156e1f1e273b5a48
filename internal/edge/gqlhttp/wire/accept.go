package wire

import (
	"net/http"

	"slipway/internal/edge/httpx"
)

// The media types of GraphQL's own: of answers in one piece, which may be httpx.MediaJSON too, and of streams of
// events.
const (
	MediaGraphQL = "application/graphql-response+json"
	MediaEvents  = "text/event-stream"
)

// Accepted returns what the Accept headers of a request want, without what has no proper weight.
func Accepted(header http.Header) httpx.Accept { return httpx.ParseAccept(header).Strict() }

// Negotiate returns the media type that a caller wants of an answer in one piece, "" if it wants neither. Of
// two that are wanted alike, the more exactly named one wins. If both come by a wildcard, application/json wins, which
// clients expect that never heard of the other.
func Negotiate(accept httpx.Accept) string {
	json, graphql := accept.Preference(httpx.MediaJSON), accept.Preference(MediaGraphQL)
	switch {
	case accept.IsEmpty():
		return httpx.MediaJSON
	case json.Quality == 0 && graphql.Quality == 0:
		return ""
	case graphql.Quality > json.Quality, graphql.Quality == json.Quality && graphql.IsNamed():
		return MediaGraphQL
	default:
		return httpx.MediaJSON
	}
}

// NegotiateEvents reports whether a caller names event streams, and whether it wants them more than answers in one
// piece. Many clients name them in every request, for subscriptions only.
func NegotiateEvents(accept httpx.Accept) (named, first bool) {
	events := accept.Preference(MediaEvents)
	if !events.IsNamed() || events.Quality == 0 {
		return false, false
	}
	return true, events.Quality > max(accept.Preference(httpx.MediaJSON).Quality, accept.Preference(MediaGraphQL).Quality)
}
