package rest

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"

	"slipway/internal/base/fault"
	"slipway/internal/edge/httpx"
)

// etag returns the strong entity tag of a record's version.
func etag(version int32) string { return fmt.Sprintf(`"v%d"`, version) }

// noVersion is a version that no record has: they count from 1.
const noVersion int32 = 0

// maxTags bounds the tags of If-Match, for each may cost a transaction.
const maxTags = 8

var versionTag = regexp.MustCompile(`^"v([1-9][0-9]{0,9})"$`)

// ifMatch returns the versions that If-Match allows, nil if any will do. Weak tags never match, nor do those
// that etag does not make: if there is no other, the only version is noVersion.
func ifMatch(h http.Header) ([]int32, error) {
	tags := httpx.Tags(h, "If-Match")
	if len(tags) > maxTags {
		return nil, fault.New(fault.RequestMalformed, "If-Match may have at most %d tags; found %d.", maxTags, len(tags))
	}
	if len(tags) == 0 || len(tags) == 1 && tags[0] == "*" {
		return nil, nil
	}

	var versions []int32
	for _, tag := range tags {
		if m := versionTag.FindStringSubmatch(tag); m != nil {
			if version, err := strconv.ParseInt(m[1], 10, 32); err == nil {
				versions = append(versions, int32(version))
			}
		}
	}

	if len(versions) == 0 {
		return []int32{noVersion}, nil
	}
	return versions, nil
}
