package document_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"slipway/internal/remote/cli/document"
)

// cpuTime returns the time of the processor that the thread has taken.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// Whatever it is, a text is read or refused soon: nothing in it takes the square of its length, which would be minutes. It is
// the time of the processor that counts, since others may use it too.
func TestHostileTextsAreSoonDone(t *testing.T) {
	t.Parallel()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	fill := func(piece string) string { return strings.Repeat(piece, document.MaxBytes/8/len(piece)) }
	for _, text := range []string{
		fill("["), fill("{"), fill("- "), fill("? "), fill("&a "), fill("!!str "), fill("*a "), fill("'"), fill(`"`), fill("a: "),
		fill("a:\n"), fill("a: # c\n"), fill("- # c\n"), fill("|\n"), fill("- |\n"), fill("\t"), fill("\n"), fill("#"), fill("# \n"), fill("{a: "), fill("- a\n"), fill("[],"),
		fill("--- \n"), fill("%a\n"), fill("é"), fill("\\"), fill("a b "), fill("- ? "), fill("a\n "), fill("'a' "),
		"[" + fill("1,"), "[" + fill("a,"), "\"" + fill("\t")[3:] + "\"", "a: \"" + fill("\t")[8:] + "\"", "a: |\n" + fill(" a\n")[8:],
		"a: >\n" + fill(" \n")[8:], bomb(200), "[" + fill("[],") + "]", "[" + fill("{a},") + "]", "[" + fill("&a ,") + fill("é: ,") + "]", fill("'a\n\n"),
		strings.Repeat("{"+strings.Repeat("k", 1000)+": ", 60) + "[" + strings.Repeat("a,", 50_000),
	} {
		begun := cpuTime(t)
		_, err := document.Read("x.yaml", []byte(text))
		if took := cpuTime(t) - begun; took > 6*time.Second {
			t.Errorf("%.20q took %v: %v", text, took, err)
		}
	}
}
