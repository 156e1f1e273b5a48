package inputvalues

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"slipway/internal/base/strictjson"
)

// Reference is that an input chooses an instance.
type Reference struct {
	// Pointer is the place of the input as a JSON Pointer into the values.
	Pointer string
	// InstanceID is the chosen instance.
	InstanceID string
	// Read is what the values have from it.
	Read []Read
}

// Read is a value that an instance has, nil for an output that it has not, and the path that it was looked for at, such
// as input.cidr.
type Read struct {
	Path  string
	Value *strictjson.Node
}

// Digest returns the SHA-256, in hex, of values and their paths, in whatever order: the same if all of them are the
// same.
func Digest(read []Read) string {
	n := &strictjson.Node{Kind: strictjson.Object}
	for _, r := range read {
		if r.Value != nil {
			n.Append(r.Path, r.Value)
		}
	}
	sum := sha256.Sum256(strictjson.Canonical(n))
	return hex.EncodeToString(sum[:])
}

// hasRead notes what was read of the instance that the reference chooses.
func (fl *field) hasRead(path string, value *strictjson.Node) {
	if !slices.ContainsFunc(fl.read, func(r Read) bool { return r.Path == path }) {
		fl.read = append(fl.read, Read{path, value})
	}
}

// reference adds the reference that a field is, if it chooses an instance.
func (s *showing) reference(fl *field) {
	n := fl.value
	if fl.in.Traits.ModuleType == "" || n == nil || n.Kind != strictjson.String || !instanceID.MatchString(n.Text) {
		return
	}
	made := Reference{Pointer: s.path.Pointer(""), InstanceID: n.Text, Read: fl.read}
	bytes := len(made.Pointer) + len(made.InstanceID)
	for _, r := range fl.read {
		bytes += len(r.Path)
	}
	if s.afford(bytes, 0) {
		s.resolved.References = append(s.resolved.References, made)
	}
}
