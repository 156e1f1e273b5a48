package httpx

import (
	"math"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Accept is what the Accept headers of a request want: media ranges with their weights (RFC 9110, 12.5.1).
type Accept struct {
	text   string
	ranges []mediaRange
}

// mediaRange is one range of an Accept header. Its quality is 1 if it has no weight, and NaN if the weight is no
// number.
type mediaRange struct {
	media   string
	quality float64
}

// ParseAccept reads the Accept headers of a request. A range that is malformed, or for another charset than UTF-8, is
// left out.
func ParseAccept(h http.Header) Accept {
	a := Accept{text: strings.Join(h.Values("Accept"), ",")}
	for part := range elements(a.text) {
		media, params, err := parseMediaType(part)
		if err == nil && isUTF8(params) {
			a.ranges = append(a.ranges, mediaRange{media, quality(params)})
		}
	}
	return a
}

// parseMediaType is mime.ParseMediaType, without what that allocates for the types that nearly every request has.
func parseMediaType(text string) (media string, params map[string]string, err error) {
	switch text {
	case "application/json", "application/graphql-response+json", "*/*":
		return text, nil, nil
	}
	return mime.ParseMediaType(text)
}

// quality returns the weight among the parameters of a media range.
func quality(params map[string]string) float64 {
	q, weighted := params["q"]
	if !weighted {
		return 1
	}
	weight, err := strconv.ParseFloat(q, 64)
	if err != nil {
		return math.NaN()
	}
	return weight
}

// String returns the headers as one.
func (a Accept) String() string { return a.text }

// IsEmpty reports whether the headers are absent or blank, so that every media type will do.
func (a Accept) IsEmpty() bool { return strings.TrimSpace(a.text) == "" }

// Strict returns the same without the ranges whose weight is no number from 0 to 1.
func (a Accept) Strict() Accept {
	weightless := func(r mediaRange) bool { return !(r.quality >= 0 && r.quality <= 1) } // as NaN is neither
	if slices.ContainsFunc(a.ranges, weightless) {
		a.ranges = slices.DeleteFunc(slices.Clone(a.ranges), weightless)
	}
	return a
}

// Preference returns how a media type is wanted, by the most exact range that covers it, the first of several; it is
// zero if none does.
func (a Accept) Preference(media string) (p Preference) {
	for _, r := range a.ranges {
		if e := r.exactness(media); e > p.exactness {
			p = Preference{r.quality, e}
		}
	}
	return p
}

// exactness returns 3 for a range that is the media type, 2 for one of its type, 1 for one of everything, and 0 for one
// that does not cover it.
func (r mediaRange) exactness(media string) int {
	kind, _, _ := strings.Cut(media, "/")
	switch r.media {
	case media:
		return 3
	case kind + "/*":
		return 2
	case "*/*":
		return 1
	default:
		return 0
	}
}

// Preference is how a media type is wanted.
type Preference struct {
	// Quality is the weight; a media type is acceptable if it is above 0. It is NaN if the header has a weight
	// that is no number.
	Quality   float64
	exactness int
}

// IsNamed reports whether the media type itself is wanted, and not as one of those that a wildcard covers.
func (p Preference) IsNamed() bool { return p.exactness == 3 }
