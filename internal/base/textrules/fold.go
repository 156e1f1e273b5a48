package textrules

import (
	"encoding/hex"
	"strings"
	"unicode"
)

// Fold returns a text in which all letters that differ only in their case are the same: two texts are equal by
// strings.EqualFold if their folded ones are equal. The databases fold in ways of their own.
func Fold(text string) string { return strings.Map(foldRune, text) }

// foldRune returns the least of the letters that differ from one only in their case, and of the letters A to Z the
// small one.
func foldRune(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	if 'A' <= least && least <= 'Z' {
		return least + 'a' - 'A'
	}
	return least
}

// NameKey returns the text by which records are listed in the order of a name: its folded form in hexadecimal, which
// both databases order like its bytes.
func NameKey(name string) string { return hex.EncodeToString([]byte(Fold(name))) }

// SearchText returns what a search looks in: texts, folded, in a line each.
func SearchText(texts ...string) string { return Fold(strings.Join(texts, "\n")) }
