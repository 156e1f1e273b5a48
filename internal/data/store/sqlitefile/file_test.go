package sqlitefile_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/id"
	"slipway/internal/data/store"
	"slipway/internal/data/store/migrate"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// inUse are the files of a SQLite database that is served, each its owner's alone.
var inUse = map[string]fs.FileMode{
	"slipway.db": 0o600, "slipway.db-wal": 0o600, "slipway.db-shm": 0o600, "slipway.db.lock": 0o600, "slipway.db.serve.lock": 0o600,
}

// never is the probe of a transaction that was not committed.
func never(context.Context, *ent.Client) (bool, error) { return false, nil }

// used opens and migrates a database as a server does, writes to it and gives the modes of its files meanwhile.
func used(t *testing.T, path string) map[string]fs.FileMode {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{URL: "sqlite:" + path, Exclusive: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for name, mode := range testkit.Modes(t, filepath.Dir(path)) {
		if mode != 0o600 {
			t.Errorf("%s has the mode %v once it is open", name, mode)
		}
	}
	if _, err := migrate.Up(t.Context(), "sqlite:"+path); err != nil {
		t.Fatal(err)
	}
	ctx := actor.With(t.Context(), &actor.Actor{Name: "test", Role: actor.System})
	if err := s.Tx(ctx, never, func(ctx context.Context, tx *ent.Tx) error {
		organizationID := id.New(id.Organization)
		return tx.Organization.Create().SetID(organizationID).SetName("x").SetSlug(organizationID).SetCreatedAt(store.Now()).SetUpdatedAt(store.Now()).Exec(ctx)
	}); err != nil {
		t.Fatal(err)
	}
	return testkit.Modes(t, filepath.Dir(path))
}

//nolint:paralleltest // the umask is the whole process's, so no other test may run meanwhile
func TestFilesOfADatabaseAreTheirOwnersAloneWhateverTheUmask(t *testing.T) {
	for _, umask := range []int{0o000, 0o022, 0o077, 0o277} {
		path := filepath.Join(t.TempDir(), "slipway.db")
		found := func() map[string]fs.FileMode {
			defer unix.Umask(unix.Umask(umask))
			return used(t, path)
		}()
		if diff := cmp.Diff(inUse, found); diff != "" {
			t.Errorf("umask %03o: %s", umask, diff)
		}
	}
}

func TestFilesThatOthersMayReadAreNarrowed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "slipway.db")
	used(t, path)
	for name := range inUse {
		file := filepath.Join(filepath.Dir(path), name)
		if strings.HasSuffix(name, "-wal") || strings.HasSuffix(name, "-shm") { // as a server leaves them that was killed
			if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(file, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(inUse, used(t, path)); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsNoDatabaseKeepsItsMode(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(t.Context(), store.Config{URL: "sqlite:" + dir}); err == nil {
		t.Error("a directory was opened")
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the directory is %v now, %v", info.Mode(), err)
	}
}

func TestFileThatCannotBeMadePrivateIsNamed(t *testing.T) {
	t.Parallel()
	url := worldtest.SQLite(t)
	loop := strings.TrimPrefix(url, "sqlite:") + "-journal"
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func() error{
		"open":    func() error { _, err := store.Open(t.Context(), store.Config{URL: url, Exclusive: true}); return err },
		"migrate": func() error { _, err := migrate.Up(t.Context(), url); return err },
	} {
		if err := open(); err == nil || !strings.Contains(err.Error(), "cannot open the database "+url) || !strings.Contains(err.Error(), loop) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.Remove(loop); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), store.Config{URL: url, Exclusive: true})
	if err != nil {
		t.Fatalf("the lock is still held: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestPathOfADatabaseIsTakenAsItIs(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "100%25 a+b & c=d;é.db")
	if _, err := migrate.Up(t.Context(), "sqlite:"+path); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("%v; there are %v", err, testkit.Modes(t, filepath.Dir(path)))
	}
}
