package store_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/test/worldtest"
)

// breakDisk has every file that this process has open of a database, but what it shares in memory, be one that
// can be neither read nor written.
func breakDisk(t *testing.T, database string) {
	t.Helper()
	folder, err := syscall.Open(t.TempDir(), syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	must(t, err)
	const open = "/proc/self/fd"
	entries, err := os.ReadDir(open)
	must(t, err)
	broken := 0
	for _, entry := range entries {
		file, err := os.Readlink(open + "/" + entry.Name())
		if err != nil || file != database && file != database+"-wal" {
			continue // a link that is gone is that of the folder which was listed
		}
		fd, err := strconv.Atoi(entry.Name())
		must(t, err)
		must(t, syscall.Dup3(folder, fd, syscall.O_CLOEXEC))
		broken++
	}
	must(t, syscall.Close(folder))
	if broken == 0 {
		t.Fatalf("no file of %s is open", database)
	}
}

func TestDiskThatCannotBeReadOrWrittenIsUnavailable(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	withProjects(t, w, 100, 1000)
	must(t, w.Store.Close())
	again := worldtest.Another(t, w.DatabaseURL) // has read nothing of the projects
	ctx := w.Acme.As(actor.Admin)
	_, err := again.Store.Client.Organization.Query().All(ctx)
	must(t, err)
	if _, err := newOrganization(ctx, again.Store); err != nil {
		t.Fatal(err)
	}
	breakDisk(t, strings.TrimPrefix(w.DatabaseURL, "sqlite:"))
	runs, written := newOrganization(ctx, again.Store)
	for name, err := range map[string]error{
		"read": second(again.Store.Client.Project.Query().All(ctx)), fmt.Sprintf("write, %d times", runs): written,
	} {
		if !fault.Is(err, fault.ServerUnavailable) || !strings.Contains(fmt.Sprint(err), "its disk cannot be read or written") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if runs > 1 || !again.Store.WritesFail() {
		t.Errorf("tried %d times, it is said that writes fail: %t", runs, again.Store.WritesFail())
	}
}

func TestGroupWhoseCommitMeetsABrokenDiskIsNotWritten(t *testing.T) {
	t.Parallel()
	url := worldtest.SQLite(t)
	synctest.Test(t, func(t *testing.T) {
		w := newWriters(t, url)
		leave := []chan struct{}{make(chan struct{}), make(chan struct{})}
		a, b := w.begin(w.ctx, "a", until(leave[0])), w.begin(w.ctx, "b", until(leave[1]))
		close(leave[0])
		synctest.Wait()
		breakDisk(t, strings.TrimPrefix(url, "sqlite:"))
		close(leave[1])
		w.all.Wait()
		for _, one := range []*writer{a, b} {
			if one.runs != 1 || !fault.Is(one.err, fault.ServerUnavailable) || !strings.Contains(fmt.Sprint(one.err), "its disk cannot be read or written") {
				t.Errorf("%s: %v after %d runs", one.slug, one.err, one.runs)
			}
		}
		newWriters(t, url).expect("on the disk")
	})
}
