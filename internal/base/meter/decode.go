package meter

import "context"

// ValueBytes is how many bytes a value of JSON counts as at least: many small ones are as much work as a long text.
const ValueBytes = 24

// Decode counts JSON that is read from the database and is about to be decoded, as bytes of a kind of work, and returns
// what Err does. What is answered as it is stored is not decoded.
func Decode[T ~string | ~[]byte](ctx context.Context, k Kind, text T) error {
	return Spend(ctx, k, DecodedBytes(text))
}

// LongText is from how many bytes on a text counts.
const LongText = 512

// Bytes returns how many bytes stored JSON counts as in work of a kind: Texts are answered unchanged, and any other
// kind decodes it.
func Bytes[T ~string | ~[]byte](k Kind, text T) int {
	switch {
	case k != Texts:
		return DecodedBytes(text)
	case len(text) < LongText:
		return 0
	default:
		return len(text)
	}
}

// DecodedBytes returns how many bytes JSON counts as when it is decoded: its own, or ValueBytes for each of its values
// where that is more. An object or a list is two values, for it takes as much as both.
func DecodedBytes[T ~string | ~[]byte](text T) int {
	values := 1
	for i := range len(text) {
		switch text[i] {
		case ',', '{', '[': // one in a text counts too, which has to be long to count for much
			values++
		}
	}
	if len(text) == 0 {
		return 0
	}
	return max(len(text), ValueBytes*values)
}

// Without returns a context whose work is not counted, for a write that must not fail by what it reads.
func Without(ctx context.Context) context.Context { return With(ctx, nil) }
