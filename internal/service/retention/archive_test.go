package retention_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"slipway/internal/data/store"
	"slipway/internal/service/retention"
	"slipway/internal/test/worldtest"
)

// others is what somebody else's file has.
const others = "the first line of somebody\nand what stands behind it"

// unfit make what must not be added to under the name of a file of an archive, and return the file that must not change.
var unfit = map[string]struct {
	says string
	make func(path string) (kept string, err error)
}{
	"a link": {"is not a regular file", func(path string) (string, error) {
		kept := path + ".target"
		return kept, firstOf(os.WriteFile(kept, []byte(others), 0o600), os.Symlink(kept, path))
	}},
	"a link that leads nowhere": {"is not a regular file", func(path string) (string, error) {
		return "", os.Symlink(path+".none", path)
	}},
	"a named pipe": {"is not a regular file", func(path string) (string, error) { return "", unix.Mkfifo(path, 0o600) }},
	"a directory":  {"is not a regular file", func(path string) (string, error) { return "", os.Mkdir(path, 0o700) }},
	"a file that others may read": {"run: chmod 0600", func(path string) (string, error) {
		return path, firstOf(os.WriteFile(path, []byte(others), 0o600), os.Chmod(path, 0o644))
	}},
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestAnArchiveAddsToNothingButItsOwnFiles(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	now := store.Now()
	old := now.Add(-48 * time.Hour)
	audited(t, w, w.Acme, old)
	rows := w.Rows(t)["audit_events"]
	for kind, c := range unfit {
		folder := t.TempDir()
		archive, err := retention.OpenArchive(folder)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := c.make(filepath.Join(folder, old.UTC().Format("audit-2006-01.jsonl")))
		if err != nil {
			t.Fatal(err)
		}

		house := w.RetentionAt(now)
		house.Keep = retention.Keep{Audit: 24 * time.Hour, Archive: archive}
		if _, err := house.Purge(t.Context()); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", kind, err, c.says)
		}
		if _, err := retention.OpenArchive(folder); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: opened again: %v, want %q", kind, err, c.says)
		}
		if kept != "" {
			if text, err := os.ReadFile(kept); string(text) != others || err != nil {
				t.Errorf("%s: %s has %q now, %v", kind, kept, text, err)
			}
		}
		if _, err := os.Lstat(filepath.Join(folder, old.UTC().Format("audit-2006-01.jsonl.none"))); err == nil {
			t.Errorf("%s: its target was made", kind)
		}
		if n := w.Rows(t)["audit_events"]; n != rows {
			t.Errorf("%s: %d rows are left of %d", kind, n, rows)
		}
	}
}

func TestAnArchiveAddsToNoFileOfAnotherUser(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "audit-2026-11.jsonl")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := retention.OpenArchive(folder); err != nil {
		t.Errorf("its own: %v", err)
	}
	if err := os.Chown(path, 12345, -1); err != nil {
		if os.Geteuid() == 0 {
			t.Fatal(err)
		}
		return // a file of another user cannot be made
	}
	if _, err := retention.OpenArchive(folder); err == nil || !strings.Contains(err.Error(), "belongs to the user 12345") {
		t.Errorf("another's: %v", err)
	}
}

func TestAnArchiveIsInAFolderThatNotEverybodyMayChange(t *testing.T) {
	t.Parallel()
	for mode, fits := range map[fs.FileMode]bool{
		0o700: true, 0o755: true, 0o775: true, 0o775 | fs.ModeSetgid: true, 0o777 | fs.ModeSticky: true, 0o777: false, 0o703: false,
	} {
		folder := filepath.Join(t.TempDir(), "audit")
		if err := firstOf(os.Mkdir(folder, 0o700), os.Chmod(folder, mode)); err != nil {
			t.Fatal(err)
		}
		_, err := retention.OpenArchive(folder)
		if fits && err != nil || !fits && (err == nil || !strings.Contains(err.Error(), "run: chmod o-w "+folder)) {
			t.Errorf("%v: %v", mode, err)
		}
	}
	file := filepath.Join(t.TempDir(), "audit")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := retention.OpenArchive(file); err == nil {
		t.Error("an archive was opened in what is not a folder")
	}
}

func TestAnArchiveWhoseFolderWasOpenedToEverybodyTakesNothing(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	now, folder := store.Now(), t.TempDir()
	audited(t, w, w.Acme, now.Add(-48*time.Hour))
	archive, err := retention.OpenArchive(folder)
	if err := firstOf(err, os.Chmod(folder, 0o777)); err != nil {
		t.Fatal(err)
	}
	house := w.RetentionAt(now)
	house.Keep = retention.Keep{Audit: 24 * time.Hour, Archive: archive}
	if _, err := house.Purge(t.Context()); err == nil || !strings.Contains(err.Error(), "everybody may replace files") {
		t.Error(err)
	}
	if found := archived(t, folder); len(found) != 0 {
		t.Errorf("%v", found)
	}
}
