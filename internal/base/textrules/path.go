package textrules

import (
	"fmt"
	"strings"

	"slipway/internal/base/fault"
)

// Path returns the parts of a path such as shop/prod/orders, each of the form of a GivenId. parts are what they name,
// such as "project".
func Path(pointer, path string, parts ...string) ([]string, []fault.Violation) {
	list := strings.Split(path, "/")
	ok := len(list) == len(parts)
	for _, part := range list {
		ok = ok && IsGivenID(part)
	}
	if !ok {
		return nil, []fault.Violation{{Pointer: pointer, Rule: "path", Message: fmt.Sprintf(
			"must be %s, each %s, found %.100q", strings.Join(parts, "/"), GivenIDForm, path)}}
	}
	return list, nil
}
