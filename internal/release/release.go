// Package release gives the content of a release its one canonical text and the digest over it, so
// that equal content is recognized and a replay ships exactly what was shipped before.
package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// ErrDigestMismatch says that a stored content is not the one its digest was made of.
var ErrDigestMismatch = errors.New("release: the digest does not match the content")

// Content is everything that a deployment ships.
type Content struct {
	ModuleVersionID string `json:"moduleVersionId"`
	Kind            string `json:"kind"`
	// Inputs is the JSON object of the complete resolved inputs.
	Inputs json.RawMessage `json:"inputs"`
	// Artifact is the JSON object that the kind ships, or nil where the kind has none.
	Artifact json.RawMessage `json:"artifact"`
}

// Sealed is a content as it is stored.
type Sealed struct {
	// Digest is "sha256:" and the hash of JSON in lower-case hex.
	Digest string
	// JSON is the content in the canonical form of RFC 8785.
	JSON string
}

// Seal gives the canonical text of a content and its digest. What has no single exact canonical form
// (a number that a double cannot hold, a duplicate key, text that is not Unicode) is refused with a
// *fault.Error of fault.RequestInvalid, whose pointers start at the content: "/inputs/…".
func Seal(c Content) (Sealed, error) {
	var r reader
	document := map[string]any{
		"moduleVersionId": r.name("moduleVersionId", c.ModuleVersionID),
		"kind":            r.name("kind", c.Kind),
		"inputs":          r.object("inputs", c.Inputs),
		"artifact":        nil,
	}
	if !none(c.Artifact) {
		document["artifact"] = r.object("artifact", c.Artifact)
	}
	if err := r.err(); err != nil {
		return Sealed{}, err
	}
	text := string(appendValue(nil, document))
	return Sealed{Digest: digest(text), JSON: text}, nil
}

// Open gives back a stored content after checking it against its digest; where they differ, the error
// is ErrDigestMismatch and nothing of the content has been looked at.
func Open(storedDigest, content string) (Content, error) {
	if found := digest(content); found != storedDigest {
		return Content{}, fmt.Errorf("%w: stored %q, computed %q", ErrDigestMismatch, storedDigest, found)
	}
	var c Content
	if err := json.Unmarshal([]byte(content), &c); err != nil {
		return Content{}, fmt.Errorf("release: read the stored content: %w", err)
	}
	if none(c.Artifact) {
		c.Artifact = nil
	}
	return c, nil
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// none says whether there is no artifact; its canonical form is null.
func none(artifact json.RawMessage) bool {
	return len(artifact) == 0 || bytes.Equal(artifact, []byte("null"))
}
