package id

import (
	"encoding/binary"
	"strings"
)

// kinds are the kinds by the number that a binary id begins with, which is never that of another kind.
var kinds = [...]Kind{
	1: Organization, Project, Environment, ModuleDefinition, ModuleVersion, ModuleInstance, Release, Deployment,
	DefaultValueDefinition, Token, AuditEvent, Quarantine, IdempotencyKey, Lease,
}

// BinarySize is the length of a binary id: the number of its kind and the 16 bytes of its UUID.
const BinarySize = 17

const (
	// alphabet has the digits of an id, each of 5 bits, of which there are 26 (see the TypeID specification).
	alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
	digits   = 26
	bits     = 5
	mask     = 1<<bits - 1
)

// AppendBinary appends the binary form of an id, which is never empty and never begins with 0. It reports false, and
// appends nothing, for a text that is no id of one of the kinds.
func AppendBinary(b []byte, text string) ([]byte, bool) {
	prefix, suffix, _ := strings.Cut(text, "_")
	kind := numberOf(Kind(prefix))
	if kind == 0 || len(suffix) != digits || suffix[0] > '7' { // 26 digits have 130 bits
		return b, false
	}
	var high, low uint64
	for i := range digits {
		digit := strings.IndexByte(alphabet, suffix[i])
		if digit < 0 {
			return b, false
		}
		high, low = high<<bits|low>>(64-bits), low<<bits|uint64(digit)
	}
	b = append(b, kind)
	b = binary.BigEndian.AppendUint64(b, high)
	return binary.BigEndian.AppendUint64(b, low), true
}

// FromBinary returns the id of a binary form, and reports false for bytes that are not of one.
func FromBinary(b []byte) (string, bool) {
	if len(b) != BinarySize || b[0] == 0 || int(b[0]) >= len(kinds) {
		return "", false
	}
	high, low := binary.BigEndian.Uint64(b[1:]), binary.BigEndian.Uint64(b[9:])
	var suffix [digits]byte
	for i := digits - 1; i >= 0; i-- {
		suffix[i] = alphabet[low&mask]
		high, low = high>>bits, low>>bits|high<<(64-bits)
	}
	return string(kinds[b[0]]) + "_" + string(suffix[:]), true
}

func numberOf(k Kind) byte {
	for n, kind := range kinds {
		if kind == k {
			return byte(n)
		}
	}
	return 0
}
