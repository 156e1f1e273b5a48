package backup_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"slipway/ent"
	"slipway/ent/organization"
	"slipway/internal/base/actor"
	"slipway/internal/base/id"
	"slipway/internal/data/store"
	"slipway/internal/data/store/backup"
	"slipway/internal/data/store/migrate"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// never is the probe of a transaction that was not committed.
func never(context.Context, *ent.Client) (bool, error) { return false, nil }

var root = &actor.Actor{Name: "test", Role: actor.System, Channel: actor.CLI}

// withOrganization makes an organization in a database and leaves it as a killed process does: what was
// written is in the -wal.
func withOrganization(t *testing.T, url, slug string) {
	t.Helper()
	aside := "sqlite:" + filepath.Join(t.TempDir(), "slipway.db")
	moveFiles(t, url, aside)
	s, err := store.Open(t.Context(), store.Config{URL: aside})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Tx(actor.With(t.Context(), root), never, func(ctx context.Context, tx *ent.Tx) error {
		return tx.Organization.Create().SetID("org_" + slug).SetName(slug).SetSlug(slug).SetCreatedAt(store.Now()).SetUpdatedAt(store.Now()).Exec(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	copyFiles(t, aside, url)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// Files that a database has.
var suffixes = []string{"", "-wal", "-shm"}

func copyFiles(t *testing.T, from, to string) {
	t.Helper()
	for _, suffix := range suffixes {
		content, err := os.ReadFile(strings.TrimPrefix(from, "sqlite:") + suffix)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(strings.TrimPrefix(to, "sqlite:")+suffix, content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func moveFiles(t *testing.T, from, to string) {
	t.Helper()
	copyFiles(t, from, to)
	for _, suffix := range suffixes {
		if err := os.Remove(strings.TrimPrefix(from, "sqlite:") + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
}

// organizations are the slugs of a database's organizations, read from a copy of its files.
func organizations(t *testing.T, url string) string {
	t.Helper()
	aside := "sqlite:" + filepath.Join(t.TempDir(), "slipway.db")
	copyFiles(t, url, aside)
	s, err := store.Open(t.Context(), store.Config{URL: aside})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	list := s.Client.Organization.Query().Order(organization.BySlug()).AllX(actor.With(t.Context(), root))
	slugs := make([]string, len(list))
	for i, o := range list {
		slugs[i] = o.Slug
	}
	return strings.Join(slugs, " ")
}

func TestRestoreThatIsKilledLeavesTheOldOrTheNewWholeAndTheNextOneMendsIt(t *testing.T) {
	t.Parallel()
	saved := filepath.Join(t.TempDir(), "backup.db")
	if _, err := backup.Write(t.Context(), worldtest.SQLite(t), saved); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for steps := 0; ; steps++ {
		url := worldtest.SQLite(t)
		withOrganization(t, url, "old")
		there, err := backup.RestoreUntil(t.Context(), url, saved, steps)
		if err != nil {
			t.Fatal(err)
		}
		if !there {
			break
		}
		seen[stateOf(t, url, steps)]++
		done, err := backup.Restore(t.Context(), url, saved)
		if err != nil {
			t.Fatalf("after %d steps: %v", steps, err)
		}
		if found := organizations(t, url); found != "" {
			t.Errorf("after %d steps the restored database has %q", steps, found)
		}
		if first := "sqlite:" + filepath.Join(done.Replaced[0], "slipway.db"); organizations(t, first) != "old" {
			t.Errorf("after %d steps what was there before has %q", steps, organizations(t, first))
		}
		left, err := filepath.Glob(strings.TrimPrefix(url, "sqlite:") + ".re*")
		if err != nil || !slices.Equal(left, done.Replaced) {
			t.Errorf("after %d steps there are %v, and %v was said", steps, left, done.Replaced)
		}
	}
	if seen["old"] < 4 || seen["neither"] < 3 || seen["new"] < 1 {
		t.Errorf("%v", seen)
	}
}

// stateOf returns whether a database is the old one, the new one, or neither so that nothing opens it.
func stateOf(t *testing.T, url string, steps int) string {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "copy.db")
	_, backedUp := backup.Write(t.Context(), url, copied)
	if backedUp != nil {
		_, opened := store.Open(t.Context(), store.Config{URL: url})
		_, served := store.Open(t.Context(), store.Config{URL: url, Exclusive: true})
		_, migrated := migrate.Up(t.Context(), url)
		_, listed := migrate.List(t.Context(), url)
		for _, err := range []error{backedUp, opened, served, migrated, listed} {
			if err == nil || !strings.Contains(err.Error(), "a restore of "+url+" did not end; run it again: slipway restore --database "+url+" --from FILE") {
				t.Errorf("after %d steps: %v", steps, err)
			}
		}
		return "neither"
	}
	switch found := organizations(t, "sqlite:"+copied); found {
	case "old":
		return "old"
	case "":
		return "new"
	default:
		t.Errorf("after %d steps it has %q", steps, found)
		return "broken"
	}
}

func TestRestoreReplacesNoFileThatCameMeanwhile(t *testing.T) {
	t.Parallel()
	url, saved := worldtest.SQLite(t), filepath.Join(t.TempDir(), "backup.db")
	if _, err := backup.Write(t.Context(), url, saved); err != nil {
		t.Fatal(err)
	}
	withOrganization(t, url, "old")
	if _, err := backup.RestoreUntil(t.Context(), url, saved, 8); err != nil {
		t.Fatal(err)
	}
	path := strings.TrimPrefix(url, "sqlite:")
	if err := os.Rename(strings.TrimPrefix(worldtest.SQLite(t), "sqlite:"), path); err != nil {
		t.Fatal(err)
	}
	_, err := backup.Restore(t.Context(), url, saved)
	if err == nil || !strings.Contains(err.Error(), path+" appeared during an unfinished restore, and "+path+".restore/slipway.db exists") {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	done, err := backup.Restore(t.Context(), url, saved)
	if err != nil {
		t.Fatal(err)
	}
	if found := organizations(t, "sqlite:"+filepath.Join(done.Replaced[0], "slipway.db")); found != "old" {
		t.Error(found)
	}
}

func TestRestoreAndBackupThatAreInterruptedChangeNothing(t *testing.T) {
	t.Parallel()
	url, saved := worldtest.SQLite(t), filepath.Join(t.TempDir(), "backup.db")
	if _, err := backup.Write(t.Context(), url, saved); err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	before := testkit.Modes(t, filepath.Dir(strings.TrimPrefix(url, "sqlite:")))
	before["slipway.db.lock"], before["slipway.db.serve.lock"] = 0o600, 0o600 // where who locks it leaves them
	to := filepath.Join(t.TempDir(), "backup.db")
	if _, err := backup.Write(ctx, url, to); !errors.Is(err, context.Canceled) {
		t.Errorf("backup: %v", err)
	}
	if _, err := backup.Restore(ctx, url, saved); !errors.Is(err, context.Canceled) {
		t.Errorf("restore: %v", err)
	}
	if diff := cmp.Diff(before, testkit.Modes(t, filepath.Dir(strings.TrimPrefix(url, "sqlite:")))); diff != "" {
		t.Error(diff)
	}
	if left := testkit.Modes(t, filepath.Dir(to)); len(left) != 0 {
		t.Error(left)
	}
}

func TestRestoreAndOpeningWaitForEachOther(t *testing.T) {
	t.Parallel()
	url, saved := worldtest.SQLite(t), filepath.Join(t.TempDir(), "backup.db")
	if _, err := backup.Write(t.Context(), url, saved); err != nil {
		t.Fatal(err)
	}
	unlock := locked(t, strings.TrimPrefix(url, "sqlite:")+".lock")
	if _, err := backup.Restore(t.Context(), url, saved); err == nil || !strings.Contains(err.Error(), "another command opens or migrates "+url) {
		t.Errorf("restore: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := store.Open(ctx, store.Config{URL: url}); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "waiting for the lock") {
		t.Errorf("open: %v", err)
	}
	unlock()
	if _, err := backup.Restore(t.Context(), url, saved); err != nil {
		t.Error(err)
	}
}

func TestBackupUnderConstantWritesHasAllThatWasThereWhenItBegan(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	ctx := w.Acme.As(actor.Admin)
	var written atomic.Int64
	stop := make(chan struct{})
	ten := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			err := w.Store.Tx(ctx, never, func(ctx context.Context, tx *ent.Tx) error {
				slug := fmt.Sprintf("p%06d", written.Load())
				return tx.Project.Create().SetID(id.New(id.Project)).SetOrganizationID(w.Acme.ID).SetName(slug).SetSlug(slug).
					SetCreatedAt(store.Now()).SetUpdatedAt(store.Now()).Exec(ctx)
			})
			if err != nil {
				t.Error(err)
				return
			}
			if written.Add(1) == 10 {
				close(ten)
			}
		}
	})
	<-ten
	for i := range 5 {
		before := written.Load()
		to := "sqlite:" + filepath.Join(t.TempDir(), "backup.db")
		done, err := backup.Write(t.Context(), w.DatabaseURL, strings.TrimPrefix(to, "sqlite:"))
		if err != nil {
			t.Fatal(err)
		}
		after := written.Load()
		if info, err := os.Stat(strings.TrimPrefix(to, "sqlite:")); err != nil || info.Size() != done.Bytes {
			t.Errorf("%d bytes, %v, %v", done.Bytes, info, err)
		}
		wholeCopy(t, to, w.Acme, before, after+1)
		if t.Failed() {
			t.Fatalf("backup %d", i)
		}
	}
	close(stop)
	writer.Wait()
}

// wholeCopy wants a copy to be whole and to have all projects up to one, whose number is between two.
func wholeCopy(t *testing.T, url string, o *worldtest.Org, least, most int64) {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	list := s.Client.Project.Query().AllX(o.As(actor.Viewer))
	if n := int64(len(list)); n < least || n > most {
		t.Errorf("%d projects, want %d to %d", n, least, most)
	}
	found := map[string]bool{}
	for _, p := range list {
		found[p.Slug] = true
	}
	for i := range list {
		if !found[fmt.Sprintf("p%06d", i)] {
			t.Errorf("of %d projects number %d is missing", len(list), i)
		}
	}
	if said := integrity(t, url); said != "ok" {
		t.Error(said)
	}
}

// integrity is what SQLite finds of a whole file.
func integrity(t *testing.T, url string) (found string) {
	t.Helper()
	db, err := sql.Open("sqlite", strings.TrimPrefix(url, "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&found); err != nil {
		t.Fatal(err)
	}
	return found
}

// locked takes the lock of a file.
func locked(t *testing.T, path string) (unlock func()) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	return func() { _ = f.Close() }
}
