package fake

import (
	"net/http"
	"regexp"
	"strings"
)

// placed is an ARN that has a region, of what is named in requests to ECS.
var placed = regexp.MustCompile(`"arn:[a-z0-9-]+:(?:ecs|elasticloadbalancing):([a-z0-9-]+):`)

// checkRegion refuses a request that names something of another region than the one that it was sent to.
func checkRegion(body []byte, region string) error {
	for _, found := range placed.FindAllSubmatch(body, -1) {
		if string(found[1]) != region {
			return invalid("Invalid identifier: Unexpected region %s, expected %s.", found[1], region)
		}
	}
	return nil
}

// signedBy returns with which access key a request was signed, and for which region.
func signedBy(r *http.Request) (key, region string) {
	_, scope, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	parts := strings.Split(scope, "/")
	if len(parts) < 3 {
		return "", ""
	}
	return parts[0], parts[2]
}
