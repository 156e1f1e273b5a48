package httpx

import (
	"net/http"
	"strings"
)

// NoneMatch reports whether If-None-Match names an entity tag, so that the caller has the answer already.
func NoneMatch(h http.Header, tag string) bool {
	for _, t := range Tags(h, "If-None-Match") {
		if t == "*" || strings.TrimPrefix(t, "W/") == tag {
			return true
		}
	}
	return false
}

// Tags lists the entity tags of a header, nil if it is absent.
func Tags(h http.Header, name string) []string {
	if h.Values(name) == nil {
		return nil
	}
	tags := strings.Split(strings.Join(h.Values(name), ","), ",")
	for i, tag := range tags {
		tags[i] = strings.TrimSpace(tag)
	}
	return tags
}
