package main_test

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	main "slipway/cmd/slipway"
)

// databaseCommands has what each command that takes --database needs besides. BACKUP stands for a good backup, and NEW for
// a file that is not there.
var databaseCommands = map[string]string{
	"init":           "--org acme --runner-token NEW",
	"serve":          "--listen 127.0.0.1:0 --admin-listen 127.0.0.1:0",
	"demo":           "--listen 127.0.0.1:0",
	"backup":         "--to NEW",
	"restore":        "--from BACKUP",
	"migrate up":     "",
	"migrate status": "",
	"check":          "",
	"org create":     "--name Acme --slug acme",
	"org list":       "",
	"token create":   "--role superadmin --name root --to NEW",
	"token list":     "",
	"token revoke":   "tok_01m8",
}

// withDatabase returns the commands that take --database.
func withDatabase(c *cobra.Command) (paths []string) {
	for _, sub := range c.Commands() {
		paths = append(paths, withDatabase(sub)...)
	}
	if c.Runnable() && c.Flags().Lookup("database") != nil {
		paths = append(paths, strings.TrimPrefix(c.CommandPath(), "slipway "))
	}
	return paths
}

// makePath makes something in a folder, perhaps with a copy of a good database, and returns its path.
type makePath func(t *testing.T, folder, good string) string

// wrongPath is what a mistyped path may lead to, and what each error says of it.
type wrongPath struct {
	says string
	make makePath
}

var wrongPaths = map[string]wrongPath{
	"a text":               {"it is not a SQLite file", made(textAt)},
	"a link to a text":     {"it is not a SQLite file", linked(made(textAt))},
	"a directory":          {"it is a directory", made(func(path string) error { return os.Mkdir(path, 0o755) })},
	"a named pipe":         {"it is a named pipe", made(pipeAt)},
	"a socket":             {"it is a socket", made(listenAt)},
	"a link to a pipe":     {"it is a named pipe", linked(made(pipeAt))},
	"another's database":   {`its table "people" is another program's`, databaseOf("CREATE TABLE people (id text)")},
	"another's migrations": {`its table "people" is another program's`, databaseOf("CREATE TABLE goose_db_version (version_id integer); CREATE TABLE people (id text)")},
	"a text as lock":       {"it has content, and the lock of a database has none", beside(".lock", textAt)},
	"a text as the server's lock": {
		"it has content, and the lock of a database has none", beside(".serve.lock", textAt),
	},
	"a link as lock":           {"it is a symbolic link", beside(".lock", linkToText)},
	"a link as server's lock":  {"it is a symbolic link", beside(".serve.lock", linkToText)},
	"a link as log":            {"it is a symbolic link", beside("-wal", linkToText)},
	"a directory as journal":   {"it is a directory", beside("-journal", func(path string) error { return os.Mkdir(path, 0o755) })},
	"a text as restore folder": {"it is not a directory", beside(".restore", textAt)},
}

func TestNoCommandChangesWhatIsNotItsDatabase(t *testing.T) {
	t.Parallel()
	commands := withDatabase(main.Commands(variables{}.lookup))
	if len(commands) != len(databaseCommands) {
		t.Errorf("commands with --database are %q", commands)
	}
	if path := filepath.Join(t.TempDir(), "null"); nullAt(path) == nil { // if this user may
		wrongPaths["a device"] = wrongPath{"it is a device", made(nullAt)}
	}
	good := backedUp(t, organized(t, "acme"))
	for _, command := range commands {
		needs, ok := databaseCommands[command]
		if !ok {
			t.Errorf("%s takes --database and is in no test", command)
			continue
		}
		for kind, wrong := range wrongPaths {
			t.Run(command+" on "+kind, func(t *testing.T) {
				t.Parallel()
				folder := t.TempDir()
				path := wrong.make(t, folder, good)
				before := contents(t, folder)
				args := append(strings.Fields(command), "--database", "sqlite:"+path)
				for _, arg := range strings.Fields(needs) {
					args = append(args, strings.NewReplacer("BACKUP", good, "NEW", filepath.Join(t.TempDir(), "new")).Replace(arg))
				}

				o := run(t, variables{"HOME": t.TempDir()}, args...)
				if o.code != 1 || !strings.Contains(o.stderr, "no database of slipway: "+wrong.says) || !strings.Contains(o.stderr, "it was not changed") {
					t.Errorf("exit code %d, %s", o.code, o.stderr)
				}
				if diff := cmp.Diff(before, contents(t, folder)); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func TestDatabasesBehindLinksAndInSharedFoldersWork(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]fs.FileMode{"of a group": 0o775 | fs.ModeSetgid, "sticky": 0o777 | fs.ModeSticky} {
		folder := filepath.Join(t.TempDir(), "data")
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(folder, mode); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(folder, "slipway.db")
		for slug, path := range []string{linkTo(t, file), file} { // the link leads to a database that is to be made, first
			script := "umask 002; \"$@\""
			for _, args := range [][]string{
				{"migrate", "up"}, {"org", "create", "--name", "Acme", "--slug", fmt.Sprint("acme", slug)}, {"org", "list"}, {"check"},
				{"backup", "--to", path + ".backup"}, {"restore", "--from", path + ".backup"}, {"migrate", "status"},
			} {
				if out, err := child(t, isSlipway, script, append(args, "--database", "sqlite:"+path)...).CombinedOutput(); err != nil {
					t.Errorf("%s folder: %q: %v: %s", name, args, err, out)
				}
			}
		}
		if info, err := os.Lstat(file); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s folder: %v, %v", name, info, err)
		}
	}
}

// contents has the mode, the time and the text of each file of a folder.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		var text []byte
		if info.Mode().IsRegular() {
			if text, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		found[path] = fmt.Sprintf("%v %v %x", info.Mode(), info.ModTime().UnixNano(), text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// made returns what makes a path in a folder by a function.
func made(by func(path string) error) makePath {
	return func(t *testing.T, folder, _ string) string {
		t.Helper()
		path := filepath.Join(folder, "notes")
		if err := by(path); err != nil {
			t.Fatal(err)
		}
		return path
	}
}

func pipeAt(path string) error { return unix.Mkfifo(path, 0o644) }

// nullAt makes a device that takes everything and has nothing.
func nullAt(path string) error { return unix.Mknod(path, unix.S_IFCHR|0o666, 1<<8|3) }

func textAt(path string) error { return os.WriteFile(path, []byte("somebody's notes\nof 2026"), 0o644) }

// linked returns what makes a path and a link to it in another folder, which it returns.
func linked(to makePath) makePath {
	return func(t *testing.T, folder, good string) string {
		t.Helper()
		return linkTo(t, to(t, folder, good))
	}
}

func linkTo(t *testing.T, target string) string {
	t.Helper()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	return link
}

// linkToText makes a text and a link to it.
func linkToText(path string) error {
	if err := textAt(path + ".txt"); err != nil {
		return err
	}
	return os.Symlink(path+".txt", path)
}

// beside returns what makes a file beside a good database.
func beside(suffix string, by func(path string) error) makePath {
	return func(t *testing.T, folder, good string) string {
		t.Helper()
		path := filepath.Join(folder, "slipway.db")
		whole, err := os.ReadFile(good)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, whole, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := by(path + suffix); err != nil {
			t.Fatal(err)
		}
		return path
	}
}

// databaseOf returns what makes a database of SQLite by statements.
func databaseOf(statements string) makePath {
	return func(t *testing.T, folder, _ string) string {
		t.Helper()
		path := filepath.Join(folder, "people.db")
		execute(t, "sqlite:"+path, statements)
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
}

// listenAt leaves a socket as a program does that was killed.
func listenAt(path string) error {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return err
	}
	l.SetUnlinkOnClose(false)
	return l.Close()
}
