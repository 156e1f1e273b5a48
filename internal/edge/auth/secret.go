package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"math/big"
	"slices"
	"strings"

	"slipway/internal/base/actor"
)

// A token is slp_<role>_<body><checksum>. The body is 256 random bits and the checksum the CRC-32 of
// everything before it; both are in base 62, padded to the width of their largest value.
const (
	scheme        = "slp"
	randomBytes   = 32
	bodyWidth     = 43
	checksumWidth = 6
	base          = 62
	// shownOfBody is how many characters of the body a token's prefix shows.
	shownOfBody = 4
	redacted    = "slp_[redacted]"
)

// Secret is the text of a token. Printing and logging show a placeholder; only Reveal returns the text.
//
// The text is behind a pointer because fmt reads the unexported fields of a struct that holds a
// Secret without calling its String method; it then finds only an address.
type Secret struct {
	text *string
}

// Generate returns a new token of the role, one of actor.Roles, from a source of randomness. The error is for any
// other role, or the source's.
func Generate(role actor.Role, random io.Reader) (Secret, error) {
	if !slices.Contains(actor.Roles, role) {
		return Secret{}, fmt.Errorf("auth: a token's role is one of %v, not %q", actor.Roles, role)
	}
	var body [randomBytes]byte
	if _, err := io.ReadFull(random, body[:]); err != nil {
		return Secret{}, fmt.Errorf("auth: draw a token: %w", err)
	}
	text := scheme + "_" + string(role) + "_" + base62(new(big.Int).SetBytes(body[:]), bodyWidth)
	sum := checksum(text)
	text += string(sum[:])
	return Secret{text: &text}, nil
}

// Parse parses the text of a token, and reports false if it does not have the form of one or its checksum is
// wrong. A token that parses need not exist.
func Parse(text string) (Secret, bool) {
	given, rest, _ := strings.Cut(text, "_")
	role, body, _ := strings.Cut(rest, "_")
	if given != scheme || !slices.Contains(actor.Roles, actor.Role(role)) {
		return Secret{}, false
	}
	if len(body) != bodyWidth+checksumWidth || strings.ContainsFunc(body, notBase62) {
		return Secret{}, false
	}
	signed := len(text) - checksumWidth
	if sum := checksum(text[:signed]); string(sum[:]) != text[signed:] {
		return Secret{}, false
	}
	return Secret{text: &text}, true
}

// Hash returns the SHA-256 of a token's text.
func Hash(text string) [sha256.Size]byte { return sha256.Sum256([]byte(text)) }

// Reveal returns the text of the token, to be shown once to its creator. That of a zero Secret is empty.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// Hash returns what is stored of the token: its SHA-256 in lower-case hexadecimal.
func (s Secret) Hash() string {
	sum := Hash(s.Reveal())
	return hex.EncodeToString(sum[:])
}

// Prefix returns the beginning of the token, by which people tell it from others: the role and the first four
// characters of the body.
func (s Secret) Prefix() string {
	text := s.Reveal()
	return text[:max(0, len(text)-bodyWidth-checksumWidth+shownOfBody)]
}

// LastFour returns the last four characters of the token, which are part of its checksum.
func (s Secret) LastFour() string {
	text := s.Reveal()
	return text[max(0, len(text)-4):]
}

// String implements fmt.Stringer without showing the token.
func (s Secret) String() string { return redacted }

// GoString implements fmt.GoStringer without showing the token.
func (s Secret) GoString() string { return redacted }

// LogValue implements slog.LogValuer without showing the token.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// digits are those of base 62, as package big has them.
const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

func checksum(text string) (sum [checksumWidth]byte) {
	rest := crc32.ChecksumIEEE([]byte(text))
	for i := range sum {
		sum[checksumWidth-1-i] = digits[rest%base]
		rest /= base
	}
	return sum
}

func base62(n *big.Int, width int) string {
	digits := n.Text(base)
	return strings.Repeat("0", width-len(digits)) + digits
}

func notBase62(r rune) bool {
	return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}
