package fault

import "strings"

var escaper = strings.NewReplacer("~", "~0", "/", "~1")

// maxKey bounds a key within a pointer, in bytes: an endless key must not be repeated in every violation
// below it.
const maxKey = 256

// Pointer returns the JSON Pointer (RFC 6901) of a place from the keys that lead to it. Of a key that is very
// long it has the beginning.
func Pointer(keys ...string) string {
	var b strings.Builder
	for _, k := range keys {
		b.WriteByte('/')
		if len(k) > maxKey {
			k = strings.ToValidUTF8(k[:maxKey], "") + "…"
		}
		b.WriteString(escaper.Replace(k))
	}
	return b.String()
}

var unescaper = strings.NewReplacer("~1", "/", "~0", "~")

// Keys returns the keys that a JSON Pointer (RFC 6901) leads by, none for that of the whole.
func Keys(pointer string) []string {
	keys := strings.Split(pointer, "/")[1:]
	for i, k := range keys {
		keys[i] = unescaper.Replace(k)
	}
	return keys
}

// Under returns the violations of a part of an input as those of the whole: root is the pointer to the part.
func Under(root string, violations []Violation) []Violation {
	whole := make([]Violation, len(violations))
	for i, v := range violations {
		whole[i] = v.under(root)
	}
	return whole
}

// under returns the violation of an input that is at root.
func (v Violation) under(root string) Violation {
	v.Pointer = root + v.Pointer
	if v.Other != "" {
		v.Message = strings.TrimSuffix(v.Message, v.Other) + root + v.Other
		v.Other = root + v.Other
	}
	return v
}
