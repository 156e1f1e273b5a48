package main_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/test/pgtest"
	"slipway/internal/test/worldtest"
)

func TestTokenThatIsCreatedWorksUntilItIsRevoked(t *testing.T) {
	t.Parallel()
	for name, database := range worldtest.Databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := database(t)
			if id := must(t, "org", "create", "--database", url, "--name", "Acme", "--slug", "acme"); !strings.HasPrefix(id, "org_") {
				t.Errorf("org create printed %q", id)
			}
			create := []string{"token", "create", "--database", url, "--org", "acme", "--role", "viewer", "--name"}
			kept, revoked := must(t, append(create, "kept")...), must(t, append(create, "revoked", "--expires-in", "720h")...)
			for _, token := range []string{kept, revoked} {
				if !regexp.MustCompile(`^slp_viewer_[0-9A-Za-z]{49}$`).MatchString(token) {
					t.Errorf("token create printed %q", token)
				}
			}
			must(t, "token", "revoke", "--database", url, "--org", "acme", idOf(t, url, "revoked"))
			s := serve(t, "--database", url)
			if got := status(t, s.API+"/module-definitions", kept); got != 200 {
				t.Errorf("the token is answered %d", got)
			}
			if got := status(t, s.API+"/module-definitions", revoked); got != 401 {
				t.Errorf("the revoked token is answered %d", got)
			}
		})
	}
}

func TestTokenListShowsNoSecret(t *testing.T) {
	t.Parallel()
	url := migrated(t)
	must(t, "org", "create", "--database", url, "--name", "Acme", "--slug", "acme")
	token := must(t, "token", "create", "--database", url, "--org", "acme", "--role", "admin", "--name", "me", "--expires-in", "1h")
	root := must(t, "token", "create", "--database", url, "--role", "superadmin", "--name", "root")
	list := must(t, "token", "list", "--database", url, "--org", "acme")
	shown := token[:len("slp_admin_xxxx")] + "…" + token[len(token)-4:]
	if !strings.Contains(list, shown) || strings.Contains(list, token[:len("slp_admin_xxxxx")]) || strings.Contains(list, "root") {
		t.Errorf("want %s, and nothing of other owners, in:\n%s", shown, list)
	}
	if year := time.Now().UTC().Format("2006-"); strings.Count(list, year) != 2 {
		t.Errorf("want when it was created and expires in:\n%s", list)
	}
	if list := must(t, "token", "list", "--database", url); !strings.Contains(list, "root") || strings.Contains(list, root) || slices.Contains(strings.Fields(list), "me") {
		t.Errorf("tokens of superadmins:\n%s", list)
	}
	must(t, "token", "revoke", "--database", url, idOf(t, url, "root"))
}

func TestTokenIsCreatedWithAScope(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	one, other := w.Fixture(t, w.Acme, "one"), w.Fixture(t, w.Acme, "other")
	create := []string{"token", "create", "--database", w.DatabaseURL, "--org", "acme", "--role", "developer", "--name", "scoped"}
	token := must(t, append(create, "--project", one.Project.ID+", "+other.Project.ID, "--environment", one.Environment.ID)...)
	r := w.GraphQL(t, token, "{ viewer { expiresAt scope { projectIds environmentIds } } }", nil)
	want := map[string]any{"expiresAt": nil, "scope": map[string]any{
		"projectIds": []any{one.Project.ID, other.Project.ID}, "environmentIds": []any{one.Environment.ID},
	}}
	if diff := cmp.Diff(want, r.At(t, "data", "viewer")); diff != "" {
		t.Error(diff)
	}
	list := must(t, "token", "list", "--database", w.DatabaseURL, "--org", "acme")
	if !strings.Contains(list, one.Project.ID+","+other.Project.ID+","+one.Environment.ID) {
		t.Errorf("no scope in\n%s", list)
	}
	mustFail(t, 1, "prj_01h455vb4pex5vsknk084sn02q", append(create, "--project", "prj_01h455vb4pex5vsknk084sn02q")...)
	mustFail(t, 2, "want ids that commas separate", append(create, "--project", one.Project.ID+",,")...)
	mustFail(t, 2, "--project", append(create, "--project", "")...) // which is not the whole organization
	many := make([]string, 101)
	for i := range many {
		many[i] = fmt.Sprint("env_", i)
	}
	mustFail(t, 2, "--environment: must have at most 100 items, found 101", append(create, "--environment", strings.Join(many, ","))...)
	mustFail(t, 2, "--role: must be one of an organization's roles", "token", "create", "--database", w.DatabaseURL, "--role", "superadmin", "--name", "x", "--project", one.Project.ID)
}

func TestTokenIsCreatedToPublishModulesByTheirTypes(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	one, other := w.Fixture(t, w.Acme, "one"), w.Fixture(t, w.Acme, "other")
	create := []string{"token", "create", "--database", w.DatabaseURL, "--org", "acme", "--role", "developer", "--name", "ci", "--module"}
	token := must(t, append(create, one.Definition.Type+", "+other.Definition.ID)...)
	r := w.GraphQL(t, token, "{ viewer { scope { moduleDefinitionIds environmentIds } } }", nil)
	want := []any{one.Definition.ID, other.Definition.ID}
	slices.SortFunc(want, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	if diff := cmp.Diff(map[string]any{"moduleDefinitionIds": want, "environmentIds": []any{}}, r.At(t, "data", "viewer", "scope")); diff != "" {
		t.Error(diff)
	}
	if list := must(t, "token", "list", "--database", w.DatabaseURL, "--org", "acme"); !strings.Contains(list, one.Definition.ID+",") {
		t.Errorf("%s", list)
	}
	global := w.In(actor.Global).GraphQL(t, w.Superadmin, `mutation { createModuleDefinition(input: {type: "all/queue", name: "Queue"}) { moduleDefinition { id } } }`, nil).
		Text(t, "data", "createModuleDefinition", "moduleDefinition", "id")
	mustFail(t, 2, `--module: want the type or the id of a module of the organization, found "acme/nothing"`, append(create, "acme/nothing")...)
	mustFail(t, 2, `--module: must be the organization's, found `+global, append(create, "all/queue")...)
}

func TestTokenIsCreatedForAHolder(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	create := []string{"token", "create", "--database", w.DatabaseURL, "--org", "acme", "--role", "viewer", "--name"}
	must(t, append(create, "laptop", "--holder", "alice")...)
	must(t, append(create, "nobodys", "--holder", "")...)
	list := must(t, "token", "list", "--database", w.DatabaseURL, "--org", "acme")
	for name, holder := range map[string]string{"laptop": "alice", "nobodys": "-", "viewer": "-"} {
		if !regexp.MustCompile(`(?m)^tok_\w+ +` + name + ` +viewer +` + holder + ` `).MatchString(list) {
			t.Errorf("want %s of %s in\n%s", name, holder, list)
		}
	}
	r := w.GraphQL(t, w.Acme.Tokens["admin"], "{ tokens(first: 2) { nodes { name holder } } }", nil)
	want := []any{map[string]any{"name": "nobodys", "holder": nil}, map[string]any{"name": "laptop", "holder": "alice"}}
	if diff := cmp.Diff(want, r.At(t, "data", "tokens", "nodes")); diff != "" {
		t.Error(diff)
	}
	mustFail(t, 2, `--holder: must be 1 to 60 letters, digits, underscores and hyphens, the first a letter or digit, found "alice@example.com"`,
		append(create, "x", "--holder", "alice@example.com")...)
}

func TestToolsRefuseWhatIsNotThere(t *testing.T) {
	t.Parallel()
	url := migrated(t)
	must(t, "org", "create", "--database", url, "--name", "Acme", "--slug", "acme")
	mustFail(t, 1, `There is an organization with the slug "acme"`, "org", "create", "--database", url, "--name", "Other", "--slug", "acme")
	mustFail(t, 1, `There is no organization with the slug "globex"`, "token", "list", "--database", url, "--org", "globex")
	mustFail(t, 1, "tok_x", "token", "revoke", "--database", url, "--org", "acme", "tok_x")
	mustFail(t, 2, `--slug: must be 1 to 60 letters`, "org", "create", "--database", url, "--name", "A", "--slug", "a b")
}

func TestNamesAndSlugsHaveNoControlCharacters(t *testing.T) {
	t.Parallel()
	url := migrated(t)
	org := []string{"org", "create", "--database", url, "--slug", "acme", "--name"}
	token := []string{"token", "create", "--database", url, "--role", "superadmin", "--name"}
	for _, command := range [][]string{org, token} {
		for name, says := range map[string]string{
			"A\u202eB": "--name: must have no control characters, line separators or bidirectional controls, found U+202E at character 2",
			"é\x1b[2J": "found U+001B at character 2", "A\tB": "found U+0009 at character 2", "A\nB": "found U+000A at character 2",
			strings.Repeat("é", 201): "--name: must have at most 200 characters, found 201",
			"A\xffB":                 "--name: must be valid UTF-8",
		} {
			mustFail(t, 2, says, append(command, name)...)
		}
	}
	mustFail(t, 2, `--slug: must be 1 to 60 letters`, "org", "create", "--database", url, "--name", "A", "--slug", "acme\u2066")
	must(t, append(org, strings.Repeat("é", 200))...)
	must(t, append(token, strings.Repeat("é", 200))...)
}

func TestServeWarnsOfARoleThatBypassesRowSecurity(t *testing.T) {
	t.Parallel()
	url := worldtest.Postgres(t)
	const warning = "row-level security does not apply"
	if s := serve(t, "--database", url); strings.Contains(s.Log, warning) {
		t.Error("warns of a role that is held")
	}
	db := pgtest.Superuser(t)
	var user string
	if err := db.QueryRowContext(t.Context(), "SELECT current_user").Scan(&user); err != nil {
		t.Fatal(err)
	}
	as := regexp.MustCompile(`//[^@]*@`).ReplaceAllString(url, "//"+user+"@")
	if s := serve(t, "--database", as); !strings.Contains(s.Log, warning) {
		t.Errorf("does not warn of a superuser: %q", s.Log)
	}
}

// idOf reads the id of a token out of the list of its owner.
func idOf(t *testing.T, url, name string) string {
	t.Helper()
	args := []string{"token", "list", "--database", url}
	if name != "root" {
		args = append(args, "--org", "acme")
	}
	for line := range strings.Lines(must(t, args...)) {
		if fields := strings.Fields(line); fields[1] == name {
			return fields[0]
		}
	}
	t.Fatalf("no token %s", name)
	return ""
}

func TestTokenIsWrittenToANewFileForItsOwnerAlone(t *testing.T) {
	t.Parallel()
	url, path := migrated(t), filepath.Join(t.TempDir(), "me.token")
	must(t, "org", "create", "--database", url, "--name", "Acme", "--slug", "acme")
	create := []string{"token", "create", "--database", url, "--org", "acme", "--role", "viewer", "--name", "me", "--to"}
	said := must(t, append(create, path)...)
	text, err := os.ReadFile(path)
	info, errOfInfo := os.Stat(path)
	if err := errors.Join(err, errOfInfo); err != nil {
		t.Fatal(err)
	}
	token := string(text)
	if !regexp.MustCompile(`^slp_viewer_[0-9A-Za-z]{49}\n$`).MatchString(token) || info.Mode().Perm() != 0o600 {
		t.Errorf("%s has %q", info.Mode(), token)
	}
	if want := "wrote the token " + idOf(t, url, "me") + " to " + path; said != want || strings.Contains(said, strings.TrimSpace(token)) {
		t.Errorf("said %q, want %q", said, want)
	}
	if got := status(t, serve(t, "--database", url).API+"/module-definitions", strings.TrimSpace(token)); got != 200 {
		t.Errorf("the token is answered %d", got)
	}
	mustFail(t, 2, "--to: want a file that does not exist yet", append(create, path)...)
	mustFail(t, 1, "no such file or directory", append(create, filepath.Join(t.TempDir(), "none", "me.token"))...)
	refused := filepath.Join(t.TempDir(), "refused.token")
	mustFail(t, 1, "prj_01h455vb4pex5vsknk084sn02q", append(create, refused, "--project", "prj_01h455vb4pex5vsknk084sn02q")...)
	if _, err := os.Stat(refused); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file is left of a token that was refused: %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != token {
		t.Errorf("the file that was there has %q, %v", after, err)
	}
	if list := must(t, "token", "list", "--database", url, "--org", "acme"); strings.Count(list, "tok_") != 1 {
		t.Errorf("a token is left of what was refused:\n%s", list)
	}
}
