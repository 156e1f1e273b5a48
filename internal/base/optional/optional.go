// Package optional reads and makes values that may be absent: a nil pointer is none.
package optional

// OrZero returns what p points to, and the zero value if p is nil.
func OrZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// NonZero returns a pointer to v, and nil if v is the zero value.
func NonZero[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// Equal reports whether both are absent, or both are there and equal.
func Equal[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}
