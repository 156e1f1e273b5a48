package wire

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// The media types of answers: in one piece, and as a stream of events.
const (
	MediaJSON    = "application/json"
	MediaGraphQL = "application/graphql-response+json"
	MediaEvents  = "text/event-stream"
)

// Negotiate returns the media type that the Accept headers want of an answer in one piece, empty when they want neither.
// Of two that are wanted alike the one that is named more exactly wins, and application/json where
// both come by a wildcard: that is what clients expect who never heard of the other.
func Negotiate(header http.Header) string {
	json, graphql := wanted(header, MediaJSON), wanted(header, MediaGraphQL)
	switch {
	case strings.TrimSpace(strings.Join(header.Values("Accept"), ",")) == "":
		return MediaJSON
	case json.quality == 0 && graphql.quality == 0:
		return ""
	case graphql.beats(json):
		return MediaGraphQL
	default:
		return MediaJSON
	}
}

// NegotiateEvents reports whether the Accept headers name event streams, and whether they want them more
// than answers in one piece. Many clients name them in every request, for subscriptions only.
func NegotiateEvents(header http.Header) (named, first bool) {
	events := wanted(header, MediaEvents)
	if events.exactness < 3 || events.quality == 0 {
		return false, false
	}
	return true, events.quality > max(wanted(header, MediaJSON).quality, wanted(header, MediaGraphQL).quality)
}

// wanted returns what the Accept headers have for a media type.
func wanted(header http.Header, offer string) preference {
	var p preference
	for part := range strings.SplitSeq(strings.Join(header.Values("Accept"), ","), ",") {
		if media, quality, ok := parseRange(part); ok {
			p.consider(media, offer, quality)
		}
	}
	return p
}

// parseRange parses one media range. A malformed one, or one for another charset, is passed over.
func parseRange(part string) (media string, quality float64, ok bool) {
	media, params, err := mime.ParseMediaType(part)
	if err != nil || !IsUTF8(params) {
		return "", 0, false
	}
	q, weighted := params["q"]
	if !weighted {
		return media, 1, true
	}
	quality, err = strconv.ParseFloat(q, 64)
	return media, quality, err == nil && quality >= 0 && quality <= 1
}

// IsUTF8 reports whether the parameters of a media type leave its text in UTF-8.
func IsUTF8(params map[string]string) bool {
	charset, named := params["charset"]
	return !named || strings.EqualFold(charset, "utf-8")
}

// preference is that of the most exact range that covers a media type.
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
