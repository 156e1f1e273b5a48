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

// Negotiate returns the media type that the Accept headers want of an answer in one piece, "" if they want neither. Of
// two that are wanted alike, the more exactly named one wins. If both come by a wildcard, application/json wins, which
// clients expect that never heard of the other.
func Negotiate(header http.Header) string {
	accept := httpx.ParseAccept(header).Strict()
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

// NegotiateEvents reports whether the Accept headers name event streams, and whether they want them more
// than answers in one piece. Many clients name them in every request, for subscriptions only.
func NegotiateEvents(header http.Header) (named, first bool) {
	accept := httpx.ParseAccept(header).Strict()
	events := accept.Preference(MediaEvents)
	if !events.IsNamed() || events.Quality == 0 {
		return false, false
	}
	return true, events.Quality > max(accept.Preference(httpx.MediaJSON).Quality, accept.Preference(MediaGraphQL).Quality)
}
