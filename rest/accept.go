package rest

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"slipway/internal/fault"
)

// acceptsJSON refuses callers that want something else than JSON. Of the ranges that cover it, the most
// exact one decides; those that cannot be read are passed over.
func acceptsJSON(h http.Header) error {
	accept := strings.Join(h.Values("Accept"), ",")
	if strings.TrimSpace(accept) == "" {
		return nil
	}
	exactness, wanted := 0, false
	for part := range strings.SplitSeq(accept, ",") {
		media, params, err := mime.ParseMediaType(part)
		if err != nil || !isUTF8(params) {
			continue
		}
		if e := map[string]int{"*/*": 1, "application/*": 2, mediaJSON: 3}[media]; e > exactness {
			exactness, wanted = e, weighs(params)
		}
	}
	if !wanted {
		return fault.New(fault.RequestNotAcceptable, "Accept must allow %s; found %.60q.", mediaJSON, accept)
	}
	return nil
}

// weighs says whether a range's weight is not zero.
func weighs(params map[string]string) bool {
	q, weighted := params["q"]
	if !weighted {
		return true
	}
	weight, err := strconv.ParseFloat(q, 64)
	return err == nil && weight > 0
}
