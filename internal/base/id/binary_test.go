package id_test

import (
	"bytes"
	"strings"
	"testing"

	"go.jetify.com/typeid"

	"slipway/internal/base/id"
)

var kinds = []id.Kind{
	id.Organization, id.Project, id.Environment, id.ModuleDefinition, id.ModuleVersion, id.ModuleInstance, id.Release, id.Deployment,
	id.DefaultValueDefinition, id.Token, id.AuditEvent, id.Quarantine, id.IdempotencyKey, id.Lease,
}

func TestABinaryIDHasTheBytesOfItsUUID(t *testing.T) {
	t.Parallel()
	seen := map[byte]bool{}
	for _, kind := range kinds {
		for _, text := range []string{
			id.New(kind), string(kind) + "_" + strings.Repeat("0", 26), string(kind) + "_7" + strings.Repeat("z", 25),
		} {
			parsed, err := typeid.FromString(text)
			if err != nil {
				t.Fatal(err)
			}
			b, ok := id.AppendBinary([]byte("before"), text)
			if !ok || len(b) != len("before")+id.BinarySize || !bytes.Equal(b[len("before")+1:], parsed.UUIDBytes()) {
				t.Errorf("%s: %x %v", text, b, ok)
			}
			if back, ok := id.FromBinary(b[len("before"):]); !ok || back != text {
				t.Errorf("%s: back %q %v", text, back, ok)
			}
			seen[b[len("before")]] = true
		}
	}
	if len(seen) != len(kinds) || seen[0] {
		t.Errorf("the numbers of the kinds: %v", seen)
	}
}

func TestWhatIsNoIDHasNoBinaryForm(t *testing.T) {
	t.Parallel()
	good := id.New(id.Deployment)
	for _, text := range []string{
		"", "_", "dep", "dep_", "0", strings.ToUpper(good), good + "0", good[:len(good)-1], "x" + good, strings.TrimPrefix(good, "dep"),
		"dep_8" + strings.Repeat("0", 25), "dep_" + strings.Repeat("é", 13), "dep_" + strings.Repeat("l", 26), "dep_dep_" + strings.Repeat("0", 22),
	} {
		if b, ok := id.AppendBinary(nil, text); ok || len(b) > 0 {
			t.Errorf("%q: %x", text, b)
		}
	}
	b, _ := id.AppendBinary(nil, good)
	for _, b := range [][]byte{nil, b[:16], append(bytes.Clone(b), 0), append([]byte{0}, b[1:]...), append([]byte{15}, b[1:]...)} {
		if text, ok := id.FromBinary(b); ok {
			t.Errorf("%x: %s", b, text)
		}
	}
}
