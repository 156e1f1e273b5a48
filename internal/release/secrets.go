package release

import (
	"encoding/json"
	"fmt"
	"math"

	"slipway/internal/secret"
	"slipway/internal/strictjson"
)

// Secrets returns the texts in the inputs or the artifact of a release that look like secrets, those that Diff masks:
// whole values, and of a text with a secret in it, such as a URL with a password, that secret. Numbers are their digits.
func Secrets(content json.RawMessage) ([]string, error) {
	if len(content) == 0 {
		return nil, nil
	}
	root, err := strictjson.ParseWithin(content, strictjson.Limits{Depth: math.MaxInt, Bytes: math.MaxInt})
	if err != nil {
		return nil, fmt.Errorf("look for secrets: %w", err)
	}
	var found []string
	var walk func(at place, n *strictjson.Node, atRoot bool)
	walk = func(at place, n *strictjson.Node, atRoot bool) {
		switch n.Kind {
		case strictjson.Object:
			for i, key := range n.Keys {
				walk(at.member(atRoot, key, n), n.Items[i], false)
			}
		case strictjson.Array:
			for i, item := range n.Items {
				walk(at.item(follows(n, i)), item, false)
			}
		default:
			if (at.secret || secret.IsName(at.name)) && mayBeSecret(n) {
				found = append(found, n.Text)
			} else if looksSecret(n) {
				found = append(found, secret.Find(n.Text)...)
			}
		}
	}
	walk(place{}, root, true)
	return found, nil
}
