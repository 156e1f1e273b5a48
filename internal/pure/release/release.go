// Package release makes the one canonical text of what a deployment ships, and the digest over it, so that equal
// content is recognized and a replay ships exactly what was shipped before. It also compares two contents leaf by leaf.
package release

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
)

// ErrDigestMismatch says that a stored content is not the one its digest was made of.
var ErrDigestMismatch = errors.New("release: the digest does not match the content")

// Unsealed is everything that a deployment will ship.
type Unsealed struct {
	ModuleVersionID, Kind string
	// Inputs is the object of the complete resolved inputs.
	Inputs *strictjson.Node
	// Artifact is the object that the kind ships, or nil if the kind has none.
	Artifact *strictjson.Node
}

// Content is everything that a deployment ships, as it is stored.
type Content struct {
	ModuleVersionID string
	Kind            string
	// Inputs is the JSON object of the complete resolved inputs.
	Inputs json.RawMessage
	// Artifact is the JSON object that the kind ships, or nil if the kind has none.
	Artifact json.RawMessage
}

// Sealed is a content as it is stored.
type Sealed struct {
	// Digest is "sha256:" and the hash of JSON in lower-case hex.
	Digest string
	// JSON is the content in the canonical form of RFC 8785.
	JSON string
}

// Seal returns the canonical text of a content and its digest. What has no single exact canonical form
// (a number that a double cannot hold, text that is not Unicode) is refused with a
// *fault.Error of fault.RequestInvalid, whose pointers start at the content: "/inputs/…".
func Seal(u Unsealed) (Sealed, error) {
	r := reader{strictjson.NewCollector("")}
	artifact := u.Artifact
	if artifact == nil {
		artifact = &strictjson.Node{Kind: strictjson.Null}
	} else {
		r.object("artifact", artifact)
	}
	r.object("inputs", u.Inputs)
	document := &strictjson.Node{
		Kind:  strictjson.Object,
		Keys:  []string{"artifact", "inputs", "kind", "moduleVersionId"},
		Items: []*strictjson.Node{artifact, u.Inputs, r.text("kind", u.Kind), r.text("moduleVersionId", u.ModuleVersionID)},
	}
	if violations := r.Violations(); len(violations) > 0 {
		return Sealed{}, fault.Invalid(fault.RequestInvalid, violations...)
	}
	text := string(strictjson.Canonical(document))
	return Sealed{Digest: digest(text), JSON: text}, nil
}

// reader finds what of a content has no exact canonical form.
type reader struct{ *strictjson.Collector }

func (r reader) text(member, text string) *strictjson.Node {
	switch {
	case text == "":
		r.FailMember(member, "required", "must not be empty")
	case !utf8.ValidString(text):
		r.FailMember(member, "encoding", "must be valid UTF-8, found %s", strictjson.ShowText(text))
	}
	return &strictjson.Node{Kind: strictjson.String, Text: text}
}

func (r reader) object(member string, n *strictjson.Node) {
	r.Path.PushKey(member)
	defer r.Path.Pop()
	switch {
	case n == nil:
		r.Fail("required", "must be an object, found nothing")
	case n.Kind != strictjson.Object:
		r.Fail("type", "must be an object, found %s", strictjson.Show(n))
	default:
		r.exact(n)
	}
}

// exact refuses the numbers in a value that have no exact canonical form.
func (r reader) exact(n *strictjson.Node) {
	if n.Kind == strictjson.Number && !strictjson.IsExact(n.Text) {
		r.Fail("number_precision", strictjson.NumberPrecision, strictjson.ShowNumber(n.Text))
	}
	for i, item := range n.Items {
		names := n.NamesOf(i)
		r.Path.Push(n, i)
		r.PushNames(names...)
		r.exact(item)
		r.PopNames(names...)
		r.Path.Pop()
	}
}

// Open returns a stored content after checking it against its digest; if they differ, the error
// is ErrDigestMismatch and nothing of the content has been looked at.
func Open(storedDigest, content string) (Content, error) {
	if err := Prove(storedDigest, content); err != nil {
		return Content{}, err
	}

	var c Content
	err := strictjson.EachMember([]byte(content), func(name, value []byte) error {
		switch string(name) {
		case "moduleVersionId":
			return json.Unmarshal(value, &c.ModuleVersionID)
		case "kind":
			return json.Unmarshal(value, &c.Kind)
		case "inputs":
			c.Inputs = value
		case "artifact":
			if string(value) != "null" {
				c.Artifact = value
			}
		}
		return nil
	})

	if err != nil {
		return Content{}, fmt.Errorf("release: read the stored content: %w", err)
	}
	return c, nil
}

// Prove returns ErrDigestMismatch if a stored content does not have its digest, nil if it has.
func Prove(storedDigest, content string) error {
	if found := digest(content); found != storedDigest {
		return fmt.Errorf("%w: stored %q, computed %q", ErrDigestMismatch, storedDigest, found)
	}
	return nil
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}
