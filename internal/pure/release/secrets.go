package release

import (
	"encoding/json"
	"fmt"
	"math"

	"slipway/internal/base/secret"
	"slipway/internal/base/strictjson"
)

// Secrets returns the texts in the inputs or the artifact of a release that look like secrets, those that Diff masks:
// whole values, and of a text with a secret in it, such as a URL with a password, that secret. Numbers are their
// digits.
func Secrets(content json.RawMessage) ([]string, error) {
	if len(content) == 0 {
		return nil, nil
	}
	root, err := strictjson.ParseWithin(content, strictjson.Limits{Depth: math.MaxInt, Bytes: math.MaxInt})
	if err != nil {
		return nil, fmt.Errorf("look for secrets: %w", err)
	}
	return secretsIn(nil, place{}, root, true), nil
}

// HoldsSecret reports whether a member of an object looks like a secret or has one in it, by the rules of Secrets.
func HoldsSecret(object *strictjson.Node, index int) bool {
	at := place{}.member(true, object.Keys[index], object)
	return len(secretsIn(nil, at, object.Items[index], false)) > 0
}

// secretsIn appends the secrets of a value to those found.
func secretsIn(found []string, at place, n *strictjson.Node, atRoot bool) []string {
	switch n.Kind {
	case strictjson.Object:
		for i, key := range n.Keys {
			found = secretsIn(found, at.member(atRoot, key, n), n.Items[i], false)
		}
	case strictjson.Array:
		for i, item := range n.Items {
			found = secretsIn(found, at.item(follows(n, i)), item, false)
		}
	default:
		found = append(found, at.secretsOf(n)...)
	}
	return found
}

// secretsOf returns the secrets of a leaf: all of it, for where it is, or what in it looks like one.
func (p place) secretsOf(leaf *strictjson.Node) []string {
	switch {
	case (p.secret || secret.IsName(p.name)) && mayBeSecret(leaf):
		return []string{leaf.Text}
	case looksSecret(leaf):
		return secret.Find(leaf.Text)
	}
	return nil
}
