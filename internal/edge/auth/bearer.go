package auth

import (
	"net/http"
	"strings"

	"slipway/internal/base/fault"
)

// bearer returns the token of the Authorization header, and false if there is no header. Its errors never repeat
// what was sent: whatever it is, somebody meant it as a secret.
func bearer(header http.Header) (Secret, bool, error) {
	values := header.Values("Authorization")
	if len(values) == 0 {
		return Secret{}, false, nil
	}
	if len(values) > 1 {
		return Secret{}, false, fault.New(fault.RequestUnauthenticated,
			"There are %d Authorization headers; send one.", len(values))
	}

	kind, text, _ := strings.Cut(strings.TrimSpace(values[0]), " ")
	if !strings.EqualFold(kind, "Bearer") {
		return Secret{}, false, fault.New(fault.RequestUnauthenticated,
			"The Authorization header is not of the Bearer scheme; send Authorization: Bearer and the token.")
	}

	secret, ok := Parse(strings.TrimLeft(text, " "))
	if !ok {
		return Secret{}, false, fault.New(fault.RequestUnauthenticated,
			"The bearer token is malformed: it has not the form slp_<role>_<%d letters and digits>, "+
				"or its checksum is wrong.", bodyWidth+checksumWidth)
	}
	return secret, true, nil
}
