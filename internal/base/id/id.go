// Package id makes and checks the ids of records. An id is a TypeID: a prefix for the kind of record and a UUIDv7 in
// base 32. So it shows what it is the id of, and ids sort by creation time.
package id

import (
	"fmt"
	"strings"

	"go.jetify.com/typeid"
)

// Kind is the prefix of a record's ids.
type Kind string

// The kinds of records.
const (
	Organization           Kind = "org"
	Project                Kind = "prj"
	Environment            Kind = "env"
	ModuleDefinition       Kind = "mod"
	ModuleVersion          Kind = "mver"
	ModuleInstance         Kind = "inst"
	Release                Kind = "rel"
	Deployment             Kind = "dep"
	DefaultValueDefinition Kind = "dvd"
	Token                  Kind = "tok"
	AuditEvent             Kind = "aud"
	Quarantine             Kind = "qua"
	IdempotencyKey         Kind = "idk"
	Rule                   Kind = "rule"
	Approval               Kind = "apr"
	Lease                  Kind = "lease"
)

// New returns a new id of the kind.
func New(k Kind) string {
	t, err := typeid.WithPrefix(string(k))
	if err != nil {
		// Only a prefix that is no TypeID prefix, or a system without randomness, gets here.
		panic(fmt.Errorf("id: %w", err))
	}
	return t.String()
}

// Of reports whether s is a well-formed id of the kind. Otherwise it cannot be the id of any record.
func Of(k Kind, s string) bool {
	if !strings.HasPrefix(s, string(k)+"_") {
		return false
	}
	t, err := typeid.FromString(s)
	return err == nil && t.Prefix() == string(k)
}

// KindOf returns the kind of a well-formed id, and reports whether s is one.
func KindOf(s string) (Kind, bool) {
	t, err := typeid.FromString(s)
	if err != nil {
		return "", false
	}
	return Kind(t.Prefix()), true
}
