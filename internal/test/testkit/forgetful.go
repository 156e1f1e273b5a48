package testkit

import (
	"bytes"
	"encoding/binary"
	"net"
	"strings"
	"sync/atomic"
	"testing"
)

// Forgetful stands between clients and PostgreSQL as a pooler does that ignores startup parameters: while it drops,
// sessions begin without the options that clients send.
type Forgetful struct {
	*Proxy
	Drops atomic.Bool
}

// NewForgetful returns a Forgetful that does not drop yet, with the URL that leads through it.
func NewForgetful(t testing.TB, databaseURL string) (f *Forgetful, through string) {
	t.Helper()
	f = &Forgetful{}
	f.Proxy, through = NewProxy(t, databaseURL, func(net.Conn) (toServer, toClient Pass) {
		begun := false
		return func(to net.Conn, b []byte) bool {
			if !begun && f.Drops.Load() {
				b = withoutOptions(b)
			}
			begun = true
			return PassAll(to, b)
		}, PassAll
	})
	if !strings.Contains(through, "sslmode=") { // the first message asks for TLS otherwise
		through += "&sslmode=disable"
	}
	return f, through
}

// withoutOptions returns the message that begins a session without the parameter options.
func withoutOptions(b []byte) []byte {
	const head = 8 // the length and the version
	parts := bytes.Split(b[head:], []byte{0})
	kept := append([]byte{}, b[:head]...)
	for i := 0; i+1 < len(parts) && len(parts[i]) > 0; i += 2 {
		if string(parts[i]) != "options" {
			kept = append(append(append(append(kept, parts[i]...), 0), parts[i+1]...), 0)
		}
	}
	kept = append(kept, 0)
	binary.BigEndian.PutUint32(kept, uint32(len(kept)))
	return kept
}
