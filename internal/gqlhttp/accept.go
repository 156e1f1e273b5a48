package gqlhttp

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// The media types of answers: in one piece, and as a stream of events.
const (
	mediaJSON    = "application/json"
	mediaGraphQL = "application/graphql-response+json"
	mediaEvents  = "text/event-stream"
)

// negotiate chooses the media type of an answer in one piece by the Accept headers, empty when neither is wanted.
// Of two that are wanted alike the one that is named more exactly wins, and application/json where
// both come by a wildcard: that is what clients expect who never heard of the other.
func negotiate(header http.Header) string {
	json, graphql := wanted(header, mediaJSON), wanted(header, mediaGraphQL)
	switch {
	case strings.TrimSpace(strings.Join(header.Values("Accept"), ",")) == "":
		return mediaJSON
	case json.quality == 0 && graphql.quality == 0:
		return ""
	case graphql.beats(json):
		return mediaGraphQL
	default:
		return mediaJSON
	}
}

// negotiateEvents says whether the Accept headers name event streams, and whether they want them more
// than answers in one piece. Many clients name them in every request, for subscriptions only.
func negotiateEvents(header http.Header) (named, first bool) {
	events := wanted(header, mediaEvents)
	if events.exactness < 3 || events.quality == 0 {
		return false, false
	}
	return true, events.quality > max(wanted(header, mediaJSON).quality, wanted(header, mediaGraphQL).quality)
}

// wanted is what the Accept headers say of a media type.
func wanted(header http.Header, offer string) preference {
	var p preference
	for part := range strings.SplitSeq(strings.Join(header.Values("Accept"), ","), ",") {
		if media, quality, ok := parseRange(part); ok {
			p.consider(media, offer, quality)
		}
	}
	return p
}

// parseRange reads one media range. A malformed one, or one for another charset, is passed over.
func parseRange(part string) (media string, quality float64, ok bool) {
	media, params, err := mime.ParseMediaType(part)
	if err != nil || !isUTF8(params) {
		return "", 0, false
	}
	q, weighted := params["q"]
	if !weighted {
		return media, 1, true
	}
	quality, err = strconv.ParseFloat(q, 64)
	return media, quality, err == nil && quality >= 0 && quality <= 1
}

func isUTF8(params map[string]string) bool {
	charset, named := params["charset"]
	return !named || strings.EqualFold(charset, "utf-8")
}

// preference is what the most exact range that covers a media type says of it.
type preference struct {
	exactness int
	quality   float64
}

func (p *preference) consider(media, offer string, quality float64) {
	kind, _, _ := strings.Cut(offer, "/")
	exactness := map[string]int{"*/*": 1, kind + "/*": 2, offer: 3}[media]
	if exactness > p.exactness {
		*p = preference{exactness, quality}
	}
}

func (p preference) beats(other preference) bool {
	if p.quality != other.quality {
		return p.quality > other.quality
	}
	return p.exactness == 3 && p.exactness >= other.exactness
}
