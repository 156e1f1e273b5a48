package lint_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"slipway/internal/data/store/migrate/lint"
)

const folder = "ent/migrate/sqlite"

// repository is one of git's with migrations.
type repository struct {
	*testing.T
	root string
}

func newRepository(t *testing.T) repository {
	t.Helper()
	r := repository{t, t.TempDir()}
	r.git("init", "--quiet", "--initial-branch=main")
	return r
}

func (r repository) git(args ...string) {
	r.Helper()
	c := exec.CommandContext(r.Context(), "git", append([]string{"-C", r.root, "-c", "user.name=a", "-c", "user.email=a@b.example"}, args...)...)
	if out, err := c.CombinedOutput(); err != nil {
		r.Fatalf("git %v: %v: %s", args, err, out)
	}
}

func (r repository) write(names ...string) {
	r.Helper()
	for _, name := range names {
		path := filepath.Join(r.root, folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			r.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			r.Fatal(err)
		}
	}
}

func (r repository) commit(names ...string) {
	r.Helper()
	r.write(names...)
	r.git("add", "--all")
	r.git("commit", "--quiet", "--message", strings.Join(names, " "))
}

func TestMigrationHasToComeAfterThoseThatWereThere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make func(repository)
		late string // "" for none
	}{
		"in order":                 {func(r repository) { r.commit("1.sql"); r.commit("2.sql", "3.sql") }, ""},
		"together":                 {func(r repository) { r.commit("3.sql", "1.sql") }, ""},
		"before one that is there": {func(r repository) { r.commit("1.sql", "3.sql"); r.commit("2.sql") }, "2.sql"},
		"not committed":            {func(r repository) { r.commit("3.sql"); r.write("2.sql") }, "2.sql"},
		"another file":             {func(r repository) { r.commit("3.sql"); r.commit("2.sum") }, ""},
		"taken away again":         {func(r repository) { r.commit("3.sql"); r.git("rm", "--quiet", folder+"/3.sql"); r.commit("2.sql") }, ""},
		"renamed after it": {func(r repository) {
			r.commit("1.sql", "3.sql")
			r.commit("2.sql")
			r.git("mv", folder+"/2.sql", folder+"/4.sql")
			r.commit("5.sql")
		}, ""},
		"merged late": {func(r repository) {
			r.commit("1.sql")
			r.git("switch", "--quiet", "--create", "branch")
			r.commit("2.sql")
			r.git("switch", "--quiet", "main")
			r.commit("3.sql")
			r.git("merge", "--quiet", "--no-edit", "branch")
		}, "2.sql"},
		"merged in order": {func(r repository) {
			r.commit("1.sql")
			r.git("switch", "--quiet", "--create", "branch")
			r.commit("3.sql")
			r.git("switch", "--quiet", "main")
			r.commit("2.sql")
			r.git("merge", "--quiet", "--no-edit", "branch")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			c.make(r)
			added, err := lint.Added(t.Context(), r.root, folder)
			if err != nil {
				t.Fatal(err)
			}
			problems := lint.Order(added)
			switch {
			case c.late == "" && len(problems) > 0:
				t.Errorf("%v: %v", added, problems)
			case c.late != "" && (len(problems) != 1 || problems[0].File != c.late || !strings.Contains(problems[0].Instead, "rename the file")):
				t.Errorf("%v: %v, want %s", added, problems, c.late)
			}
		})
	}
}

func TestOrderOfMigrationsNeedsTheWholeHistory(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.commit("1.sql")
	r.commit("2.sql")
	shallow := filepath.Join(t.TempDir(), "shallow")
	r.git("clone", "--quiet", "--depth=1", "file://"+r.root, shallow)
	if added, err := lint.Added(t.Context(), shallow, folder); err == nil || !strings.Contains(err.Error(), "fetch all of it") {
		t.Errorf("%v, %v", added, err)
	}
	if added, err := lint.Added(t.Context(), t.TempDir(), folder); err == nil {
		t.Errorf("without a history: %v", added)
	}
}
