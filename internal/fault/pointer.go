package fault

import "strings"

var escaper = strings.NewReplacer("~", "~0", "/", "~1")

// Pointer gives the JSON Pointer (RFC 6901) of a place from the keys that lead to it.
func Pointer(keys ...string) string {
	var b strings.Builder
	for _, k := range keys {
		b.WriteByte('/')
		b.WriteString(escaper.Replace(k))
	}
	return b.String()
}

// Under gives the violations of a part of an input as those of the whole: root is where the part is.
func Under(root string, violations []Violation) []Violation {
	whole := make([]Violation, len(violations))
	for i, v := range violations {
		v.Pointer = root + v.Pointer
		whole[i] = v
	}
	return whole
}
