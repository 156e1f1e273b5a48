package cli_test

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestContextsThatAreBeingChangedAreWaitedFor(t *testing.T) {
	t.Parallel()
	h, s := newHome(t), recording(t)
	h.typing("slp_a").must(t, "login", "--server", s.url, "--context", "a", "--with-token")
	held, err := os.OpenFile(h.file()+".lock", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	// Whoever changes them needs the lock alone.
	if err := unix.Flock(int(held.Fd()), unix.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	h.must(t, "whoami")
	hasty := h.typing("slp_b")
	hasty.config.Patience = 50 * time.Millisecond
	hasty.mustFail(t, 1, []string{"another command holds " + h.file() + ".lock"}, "login", "--server", s.url, "--context", "b", "--with-token")
	if err := unix.Flock(int(held.Fd()), unix.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	h.typing("slp_b").must(t, "login", "--server", s.url, "--context", "b", "--with-token")
}
