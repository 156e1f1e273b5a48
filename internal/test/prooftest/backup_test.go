package prooftest_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

func TestBackupHasWhatWasAcknowledgedAndIsRestoredBesideOldLogFiles(t *testing.T) {
	t.Parallel()
	program, chance, begun := built.Path(t), seeded(t), time.Now()
	var sum backedUp
	for range testkit.Often(1, 10) {
		sum.add(backupAndRestore(t, program, chance))
	}
	if sum.inTheLog == 0 {
		t.Error("nothing was in a log file that a restore moved away")
	}
	proved.note(t, begun, "%d backups under load with %d rollbacks acknowledged before, %d kills of backups and restores, %d bytes of log files beside the restores: nothing missing, integrity ok",
		sum.backups, sum.acknowledged, sum.kills, sum.inTheLog)
}

// backedUp counts what a proof of backups saw.
type backedUp struct {
	backups, acknowledged, kills int
	inTheLog                     int64
}

func (b *backedUp) add(more backedUp) {
	b.backups, b.acknowledged = b.backups+more.backups, b.acknowledged+more.acknowledged
	b.kills, b.inTheLog = b.kills+more.kills, b.inTheLog+more.inTheLog
}

// backupAndRestore backs a server up under load, kills it and restores the backup, killing a backup and
// restores on the way.
func backupAndRestore(t *testing.T, program string, chance *rand.Rand) (seen backedUp) {
	t.Helper()
	w := worldtest.New(t, worldtest.SQLite(t))
	clients := newRollers(t, w, 8)
	// The file is to be the killed process's alone.
	if err := w.Store.Close(); err != nil {
		t.Fatal(err)
	}
	server := serve(t, program, w.DatabaseURL)
	under := begin(t, clients, server.API)
	under.proceed(10 + chance.IntN(20))
	before := known(clients)
	backup := filepath.Join(t.TempDir(), "backup.db")
	command(t, program, "backup", "--database", w.DatabaseURL, "--to", backup)
	under.proceed(10)
	killedBackup(t, w, program, time.Duration(chance.Int64N(int64(60*time.Millisecond))))
	under.proceed(10)
	server.Kill()
	under.finish()

	seen.kills = 1
	path := strings.TrimPrefix(w.DatabaseURL, "sqlite:")
	if info, err := os.Stat(path + "-wal"); err == nil {
		seen.inTheLog = info.Size()
	}
	restore := []string{"restore", "--database", w.DatabaseURL, "--from", backup}
	for range testkit.Often(2, 5) {
		if ended := killed9(t, program, time.Duration(chance.Int64N(int64(80*time.Millisecond))), restore...); !ended {
			seen.kills++
		}
	}
	command(t, program, restore...)
	whole(t, w, before)
	old := *w
	replaced, err := filepath.Glob(path + ".replaced-*")
	if err != nil || len(replaced) == 0 {
		t.Fatalf("%v, %v", replaced, err)
	}
	old.DatabaseURL = "sqlite:" + filepath.Join(replaced[0], filepath.Base(path))
	whole(t, &old, clients)
	serve(t, program, w.DatabaseURL).Kill()
	seen.backups, seen.acknowledged = 1, acknowledgements(before)
	return seen
}

// killedBackup kills a backup and wants it to leave a whole one or none.
func killedBackup(t *testing.T, w *worldtest.World, program string, after time.Duration) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "killed.db")
	killed9(t, program, after, "backup", "--database", w.DatabaseURL, "--to", to)
	if _, err := os.Stat(to); errors.Is(err, fs.ErrNotExist) {
		return
	}
	copied := *w
	copied.DatabaseURL = "sqlite:" + to
	whole(t, &copied, nil)
}

// killed9 runs a command of the program, kills it after a time and reports whether it had ended well.
func killed9(t *testing.T, program string, after time.Duration, args ...string) bool {
	t.Helper()
	c := exec.CommandContext(t.Context(), program, args...)
	c.Env = []string{}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { _ = c.Process.Kill() })
	defer timer.Stop()
	return c.Wait() == nil
}

// command runs a command of the program, or any other, which is to end well.
func command(t *testing.T, program string, args ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), program, args...)
	c.Env = []string{}
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(args, " "), err, out)
	}
}
