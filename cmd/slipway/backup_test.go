package main_test

import (
	"database/sql"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// organized returns a database with organizations of these slugs.
func organized(t *testing.T, slugs ...string) string {
	t.Helper()
	url := migrated(t)
	for _, slug := range slugs {
		must(t, "org", "create", "--database", url, "--name", slug, "--slug", slug)
	}
	return url
}

// slugs are those of a database's organizations.
func slugs(t *testing.T, url string) string {
	t.Helper()
	found := []string{}
	for _, line := range strings.Split(must(t, "org", "list", "--database", url), "\n")[1:] {
		found = append(found, strings.Fields(line)[1])
	}
	return strings.Join(found, " ")
}

func pathOf(url string) string { return strings.TrimPrefix(url, "sqlite:") }

// backedUp returns a backup of a database.
func backedUp(t *testing.T, url string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "backup.db")
	must(t, "backup", "--database", url, "--to", to)
	return to
}

// listing has the files of a folder, without lock files, and their sizes.
func listing(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	found := map[string]int64{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, ".lock") {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			found[strings.TrimPrefix(path, dir)] = info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// damage overwrites the page at which a table of a database begins.
func damage(t *testing.T, path, table string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	var page, size int64
	err = db.QueryRowContext(t.Context(), "SELECT rootpage, page_size FROM sqlite_master, pragma_page_size WHERE name = ?", table).Scan(&page, &size)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	overwrite(t, path, (page-1)*size, size)
}

func overwrite(t *testing.T, path string, at, bytes int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte(strings.Repeat("x", int(bytes))), at); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestRestoreBringsBackWhatWasBackedUpWhileServing(t *testing.T) {
	t.Parallel()
	url := organized(t, "before")
	dir := filepath.Dir(pathOf(url))
	s := serve(t, "--database", url)
	must(t, "org", "create", "--database", url, "--name", "in the log", "--slug", "logged")
	to := filepath.Join(dir, "backup.db")
	if said := must(t, "backup", "--database", url, "--to", to); !regexp.MustCompile(`^wrote \S+/backup\.db: \d+ bytes in [\d.]+m?s, migration \d{14}$`).MatchString(said) {
		t.Error(said)
	}
	must(t, "org", "create", "--database", url, "--name", "later", "--slug", "later")
	if found := slugs(t, url); found != "before later logged" {
		t.Fatal(found)
	}
	mustFail(t, 1, "a server has "+url+" open; stop it before a restore", "restore", "--database", url, "--from", to)
	s.stop()
	<-s.done
	said := must(t, "restore", "--database", url, "--from", to)
	parts := regexp.MustCompile(`^restored \S+ from \S+/backup\.db: \d+ bytes in [\d.]+m?s, migration \d{14}\nthe earlier files are in (\S+)$`).FindStringSubmatch(said)
	if parts == nil || !strings.HasPrefix(parts[1], pathOf(url)+".replaced-") {
		t.Fatal(said)
	}
	if found := slugs(t, url); found != "before logged" {
		t.Errorf("restored: %s", found)
	}
	if found := slugs(t, "sqlite:"+filepath.Join(parts[1], "slipway.db")); found != "before later logged" {
		t.Errorf("what was there before: %s", found)
	}
	serve(t, "--database", url)
}

func TestRestorePutsADatabaseWhereThereIsNone(t *testing.T) {
	t.Parallel()
	to := backedUp(t, organized(t, "acme"))
	url := file(t)
	if said := must(t, "restore", "--database", url, "--from", to); strings.Contains(said, "before") {
		t.Error(said)
	}
	if found := slugs(t, url); found != "acme" {
		t.Error(found)
	}
	if files := listing(t, filepath.Dir(pathOf(url))); len(files) != 1 {
		t.Errorf("%v", files)
	}
}

func TestBackupsAndRestoredDatabasesAreTheirOwnersAloneWhateverTheUmask(t *testing.T) {
	t.Parallel()
	for _, umask := range []string{"000", "277"} {
		url := organized(t, "acme")
		to := filepath.Join(t.TempDir(), "backup.db")
		for _, args := range [][]string{{"backup", "--to", to}, {"restore", "--from", to}} {
			if out, err := child(t, isSlipway, "umask "+umask+`; "$@"`, append(args, "--database", url)...).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v: %s", args[0], err, out)
			}
		}
		for _, path := range []string{to, pathOf(url)} {
			if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
				t.Errorf("umask %s: %s: %v, %v", umask, path, info.Mode(), err)
			}
		}
	}
}

func TestNamesOfDatabaseAndBackupMayHaveAnyCharacters(t *testing.T) {
	t.Parallel()
	plain := organized(t, "acme")
	url := "sqlite:" + filepath.Join(t.TempDir(), "my 100%25 [data] +&;'.db")
	if err := os.Rename(pathOf(plain), pathOf(url)); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), `a "copy" 50%41?mode=memory#&=é.db`)
	must(t, "backup", "--database", url, "--to", to)
	if files := listing(t, filepath.Dir(to)); len(files) != 1 || files["/"+filepath.Base(to)] == 0 {
		t.Errorf("%v", files)
	}
	must(t, "restore", "--database", url, "--from", to)
	if found := slugs(t, url); found != "acme" {
		t.Error(found)
	}
	if files := listing(t, filepath.Dir(pathOf(url))); len(files) != 2 {
		t.Errorf("%v", files)
	}
}

func TestBackupThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	url := organized(t, "acme")
	corrupt, other, text := organized(t, "acme"), file(t), file(t)
	damage(t, pathOf(corrupt), "tokens")
	execute(t, other, "CREATE TABLE organizations (id text)")
	if err := os.WriteFile(pathOf(text), []byte("no database at all, whatever its name is"), 0o600); err != nil {
		t.Fatal(err)
	}
	taken, link := backedUp(t, url), filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(filepath.Join(t.TempDir(), "nowhere"), link); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ says, from, to string }{
		"the name is taken":            {"there is a file " + taken + " already, and a backup overwrites none", url, taken},
		"a link has the name":          {"there is a file " + link + " already", url, link},
		"the folder is missing":        {"cannot write the backup ", url, filepath.Join(t.TempDir(), "none", "backup.db")},
		"the folder cannot be written": {"cannot write the backup /proc/backup.db: ", url, "/proc/backup.db"},
		"the database is damaged":      {"no backup was written: the database " + corrupt + " is corrupt: ", corrupt, filepath.Join(t.TempDir(), "backup.db")},
		"another program's database":   {"no database of slipway", other, filepath.Join(t.TempDir(), "backup.db")},
		"no database":                  {"no database of slipway", text, filepath.Join(t.TempDir(), "backup.db")},
		"the database is missing":      {"there is no database sqlite:", file(t), filepath.Join(t.TempDir(), "backup.db")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := map[string]int64{}
			dir := filepath.Dir(c.to)
			if dir != "/proc" && filepath.Base(dir) != "none" {
				before = listing(t, dir)
			}
			mustFail(t, 1, c.says, "backup", "--database", c.from, "--to", c.to)
			if dir != "/proc" && filepath.Base(dir) != "none" {
				if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func TestFullDiskLeavesNeitherHalfABackupNorHalfARestore(t *testing.T) {
	t.Parallel()
	url := organized(t, "acme")
	backup := backedUp(t, url)
	must(t, "org", "create", "--database", url, "--name", "later", "--slug", "later")
	to := filepath.Join(t.TempDir(), "backup.db")
	before := listing(t, filepath.Dir(pathOf(url)))
	for _, args := range [][]string{{"backup", "--to", to}, {"restore", "--from", backup}} {
		// A file may have 50 KiB, which are fewer than the database has.
		out, err := child(t, isSlipway, `ulimit -f 100; "$@"`, append(args, "--database", url)...).CombinedOutput()
		if err == nil || !strings.HasPrefix(string(out), "slipway: cannot ") {
			t.Errorf("%s: %v: %s", args[0], err, out)
		}
	}
	if left := listing(t, filepath.Dir(to)); len(left) != 0 {
		t.Errorf("left %v", left)
	}
	if diff := cmp.Diff(before, listing(t, filepath.Dir(pathOf(url)))); diff != "" {
		t.Error(diff)
	}
	if found := slugs(t, url); found != "acme later" {
		t.Error(found)
	}
}

func TestRestoreOfWhatIsNoGoodBackupChangesNothing(t *testing.T) {
	t.Parallel()
	url := organized(t, "acme")
	copied := func(change func(path string)) string {
		path := backedUp(t, url)
		change(path)
		return path
	}
	written := func(content string) func(string) {
		return func(path string) {
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Error(err)
			}
		}
	}
	log := copied(func(path string) { written("frames")(path + "-wal") })
	for name, c := range map[string]struct{ says, from string }{
		"a damaged page":             {"corrupt: ", copied(func(path string) { damage(t, path, "tokens") })},
		"a damaged first page":       {"corrupt: ", copied(func(path string) { overwrite(t, path, 100, 4000) })},
		"cut off":                    {"corrupt: ", copied(func(path string) { _ = os.Truncate(path, 100_000) })},
		"empty":                      {"no database of slipway", copied(written(""))},
		"a text":                     {"no database of slipway", copied(written("no database at all, whatever its name is"))},
		"another program's":          {"no database of slipway", copied(func(path string) { execute(t, path, "DROP TABLE goose_db_version") })},
		"another program's versions": {"no database of slipway", copied(func(path string) { execute(t, path, "UPDATE goose_db_version SET version_id = id") })},
		"newer than the program": {"was migrated by a newer version of slipway: it has migration 29990101000000", copied(func(path string) {
			execute(t, path, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (29990101000000, 1)")
		})},
		"the database itself":       {"is the database itself", pathOf(url)},
		"a folder":                  {"is no regular file", t.TempDir()},
		"missing":                   {"cannot read the backup: ", filepath.Join(t.TempDir(), "none.db")},
		"with a log file beside it": {"slipway backup --database sqlite:" + log + " --to NEW; else move it away", log},
	} {
		before := listing(t, filepath.Dir(pathOf(url)))
		mustFail(t, 1, c.says, "restore", "--database", url, "--from", c.from)
		if diff := cmp.Diff(before, listing(t, filepath.Dir(pathOf(url)))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if found := slugs(t, url); found != "acme" {
		t.Error(found)
	}
}

func TestCopyWithItsLogFileIsMadeOneFileByABackup(t *testing.T) {
	t.Parallel()
	url := organized(t, "acme")
	killed(t, url, func() { must(t, "org", "create", "--database", url, "--name", "logged", "--slug", "logged") })
	one := filepath.Join(t.TempDir(), "one.db")
	before := listing(t, filepath.Dir(pathOf(url)))
	mustFail(t, 1, "has "+pathOf(url)+"-wal beside it", "restore", "--database", file(t), "--from", pathOf(url))
	must(t, "backup", "--database", url, "--to", one)
	after := listing(t, filepath.Dir(pathOf(url)))
	for _, suffix := range []string{"", "-wal"} {
		name := "/slipway.db" + suffix
		if before[name] == 0 || before[name] != after[name] {
			t.Errorf("%s had %d bytes and has %d", name, before[name], after[name])
		}
	}
	other := file(t)
	must(t, "restore", "--database", other, "--from", one)
	if found := slugs(t, other); found != "acme logged" {
		t.Error(found)
	}
}

func TestRestoreRefusesWhileAnotherProgramHasTheDatabaseOpen(t *testing.T) {
	t.Parallel()
	url := organized(t, "acme")
	backup := backedUp(t, url)
	release := held(t, pathOf(url))
	// A process of its own: SQLite's locks are a process's.
	out, err := child(t, isSlipway, `"$@"`, "restore", "--database", url, "--from", backup).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "another program has "+url+" open; end it before a restore") {
		t.Errorf("%v: %s", err, out)
	}
	release()
	must(t, "restore", "--database", url, "--from", backup)
}

func TestLinkToADatabaseStandsForIt(t *testing.T) {
	t.Parallel()
	url := organized(t, "acme")
	backup := backedUp(t, url)
	must(t, "org", "create", "--database", url, "--name", "later", "--slug", "later")
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(pathOf(url), link); err != nil {
		t.Fatal(err)
	}
	s := serve(t, "--database", "sqlite:"+link)
	mustFail(t, 1, "another server has "+url+" open", "serve", "--database", url)
	mustFail(t, 1, "a server has "+url+" open", "restore", "--database", url, "--from", backup)
	s.stop()
	<-s.done
	must(t, "restore", "--database", "sqlite:"+link, "--from", backup)
	if found := slugs(t, url); found != "acme" {
		t.Error(found)
	}
	if target, err := os.Readlink(link); err != nil || target != pathOf(url) {
		t.Errorf("the link leads to %s, %v", target, err)
	}
}

func TestDatabaseIsCheckedAfterAnUncleanEndAndNotAfterACleanOne(t *testing.T) {
	t.Parallel()
	url := organized(t, "acme")
	backup := backedUp(t, url)
	checked := func(s *serving) bool {
		return strings.Contains(s.Log, "checking the database before it is served")
	}
	ends := func(s *serving) {
		s.stop()
		if code := <-s.done; code != 0 {
			t.Errorf("exit code %d", code)
		}
	}
	for _, want := range []bool{false, true, false} {
		s := serve(t, "--database", url)
		if checked(s) != want {
			t.Errorf("checked: %t, want %t: %q", !want, want, s.Log)
		}
		ends(s)
		if !want {
			// A tool that has opened and closed the file since leaves nothing that the killed server has left.
			killed(t, url, func() {})
			slugs(t, url)
		}
	}

	damage(t, pathOf(url), "tokens")
	before := listing(t, filepath.Dir(pathOf(url)))
	for range 2 {
		mustFail(t, 1, "put a backup in its place with: slipway restore --database "+url+" --from FILE", "serve", "--database", url)
	}
	if diff := cmp.Diff(before, listing(t, filepath.Dir(pathOf(url)))); diff != "" {
		t.Errorf("a database that is refused has changed: %s", diff)
	}
	must(t, "restore", "--database", url, "--from", backup)
	s := serve(t, "--database", url)
	if checked(s) {
		t.Error("a restored database was checked again")
	}
	ends(s)
}

func TestDatabaseThatCameWithALogFileIsChecked(t *testing.T) {
	t.Parallel()
	url := organized(t, "acme")
	killed(t, url, func() { must(t, "org", "create", "--database", url, "--name", "logged", "--slug", "logged") })
	moved := file(t)
	for _, suffix := range []string{"", "-wal"} {
		if err := os.Rename(pathOf(url)+suffix, pathOf(moved)+suffix); err != nil {
			t.Fatal(err)
		}
	}
	s := serve(t, "--database", moved)
	if logged := s.Log; !strings.Contains(logged, pathOf(moved)+"-wal was left behind") {
		t.Error(logged)
	}
	if found := slugs(t, moved); found != "acme logged" {
		t.Error(found)
	}
}

func TestLogFileWithoutItsDatabaseIsNotThrownAway(t *testing.T) {
	t.Parallel()
	url := organized(t, "acme")
	killed(t, url, func() { must(t, "org", "create", "--database", url, "--name", "logged", "--slug", "logged") })
	aside := pathOf(file(t))
	if err := os.Rename(pathOf(url), aside); err != nil {
		t.Fatal(err)
	}
	mustFail(t, 1, "there is "+pathOf(url)+"-wal without its database", "serve", "--database", url)
	if err := os.Rename(aside, pathOf(url)); err != nil {
		t.Fatal(err)
	}
	if found := slugs(t, url); found != "acme logged" {
		t.Error(found)
	}
}

func TestSignalLeavesNothingOfABackup(t *testing.T) {
	t.Parallel()
	url := organized(t, "acme")
	execute(t, url, "CREATE TABLE padding AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 3000) SELECT randomblob(20000) FROM n")
	dir := t.TempDir()
	c := child(t, isSlipway, `exec "$@"`, "backup", "--database", url, "--to", filepath.Join(dir, "backup.db"))
	var said strings.Builder
	c.Stderr = &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	// It copies when its file has begun to grow.
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for grown := false; !grown; {
		select {
		case err := <-ended:
			t.Fatalf("it ended before it was to: %v, %s", err, &said)
		case <-tick.C:
		}
		for _, size := range listing(t, dir) {
			grown = size > 0
		}
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("it ended well")
	}
	if left := listing(t, dir); len(left) != 0 {
		t.Errorf("left %v: %s", left, &said)
	}
}
