package jsregexp

import "slices"

// latin is how many characters the table of a set has: those of Latin-1, which most texts are written in.
const latin = 256

// set is a set of UTF-16 code units.
type set struct {
	table [latin / 64]uint64
	// ranges are the members from latin on: the first and the last of each range, in ascending order.
	ranges []uint16
}

// newSet returns the set of ranges in ascending order, of a first and a last character each. A character beyond U+FFFF
// is no code unit.
func newSet(ranges ...uint32) *set {
	s := &set{}
	for r := range slices.Chunk(ranges, 2) {
		first, last := r[0], min(r[1], 0xFFFF)
		for c := first; c <= min(last, latin-1); c++ {
			s.table[c/64] |= 1 << (c % 64)
		}
		if first = max(first, latin); first <= last {
			s.ranges = append(s.ranges, uint16(first), uint16(last))
		}
	}
	return s
}

// has reports whether a character is in the set.
func (s *set) has(c uint32) bool {
	if c < latin {
		return s.table[c/64]>>(c%64)&1 != 0
	}
	return s.find(c)
}

// find reports whether a character from latin on is in the set.
func (s *set) find(c uint32) bool {
	low, high := 0, len(s.ranges)/2
	for low < high {
		switch middle := (low + high) / 2; {
		case c < uint32(s.ranges[2*middle]):
			high = middle
		case c > uint32(s.ranges[2*middle+1]):
			low = middle + 1
		default:
			return true
		}
	}
	return false
}

// The sets that are written as one character.
var (
	lineEnds = newSet('\n', '\n', '\r', '\r', 0x2028, 0x2029)
	inLine   = newSet(0, '\t', '\v', '\f', 0xE, 0x2027, 0x202A, 0xFFFF)
	spaces   = newSet('\t', '\r', ' ', ' ', 0xA0, 0xA0, 0x1680, 0x1680, 0x2000, 0x200A, 0x2028, 0x2029,
		0x202F, 0x202F, 0x205F, 0x205F, 0x3000, 0x3000, 0xFEFF, 0xFEFF)
	notSpaces = newSet(0, 8, 0xE, 0x1F, '!', 0x9F, 0xA1, 0x167F, 0x1681, 0x1FFF, 0x200B, 0x2027, 0x202A, 0x202E,
		0x2030, 0x205E, 0x2060, 0x2FFF, 0x3001, 0xFEFE, 0xFF00, 0xFFFF)
	words = newSet('0', '9', 'A', 'Z', '_', '_', 'a', 'z')
	// wordsOfAnyCase has two more, whose other case is a letter of words.
	wordsOfAnyCase = newSet('0', '9', 'A', 'Z', '_', '_', 'a', 'z', 0x17F, 0x17F, 0x212A, 0x212A)
)
