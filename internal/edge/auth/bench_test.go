package auth_test

import (
	"testing"
	"time"
)

func BenchmarkAuthenticate(b *testing.B) {
	w := setup(b)
	r := bearing(b.Context(), w.issue(b, time.Time{}))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.Authenticate(r); err != nil {
			b.Fatal(err)
		}
	}
}
