package main_test

import (
	"regexp"
	"strings"
	"testing"
)

// newerDatabase returns the URL of a database that a newer version has migrated twice. What the second
// migration is compatible with is an expression, in which newest is the newest migration of this version.
func newerDatabase(t *testing.T, compatibleWith string) string {
	t.Helper()
	url := migrated(t)
	newest := "(SELECT max(version_id) FROM goose_db_version WHERE version_id < 29990101000000)"
	for _, statement := range []string{
		"INSERT INTO migration_compatibility VALUES (29990101000000, " + newest + "), (29990102000000, " + strings.ReplaceAll(compatibleWith, "newest", newest) + ")",
		"INSERT INTO goose_db_version (version_id, is_applied) VALUES (29990101000000, 1), (29990102000000, 1)",
	} {
		execute(t, url, statement)
	}
	return url
}

func TestServeBeginsOnADatabaseOfANewerVersionThatSaysItMay(t *testing.T) {
	t.Parallel()
	for _, migrate := range []string{"--migrate=true", "--migrate=false"} {
		serve(t, "--database", newerDatabase(t, "newest"), migrate)
		mustFail(t, 1, "its migration 29990102000000 needs a program that has migration 29990101000000, and the newest of this one is 2026",
			"serve", "--database", newerDatabase(t, "29990101000000"), migrate)
	}
	url := newerDatabase(t, "newest")
	must(t, "org", "create", "--name", "Acme", "--slug", "acme", "--database", url)
	if got := must(t, "migrate", "up", "--database", url); got != "applied 0 migrations" {
		t.Error(got)
	}
}

// saysNothing is a migration from before migrations said what they are compatible with.
const saysNothing = "20261122012914"

func TestMigrateStatusTellsWhatBecomesOfOlderServers(t *testing.T) {
	t.Parallel()
	lagging := migrated(t)
	execute(t, lagging, "DELETE FROM goose_db_version WHERE version_id >= "+saysNothing)
	late, other := migrated(t), migrated(t)
	execute(t, late, "DELETE FROM goose_db_version WHERE version_id = "+saysNothing)
	execute(t, other, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (20261122012915, 1)")
	for name, c := range map[string]struct{ url, want string }{
		"one left out":        {late, saysNothing + `_list_indexes\.sql +out of order +a later one was applied: this version neither migrates nor serves\n`},
		"one of another":      {other, `\n20261122012915 +\(of another version\) +applied +this version cannot serve\n20261122050000 `},
		"empty":               {file(t), `_initial\.sql +pending +may go on`},
		"says nothing":        {lagging, `_initial\.sql +applied *\n(.*\n)*` + saysNothing + `.* pending +stop first`},
		"newer, may serve":    {newerDatabase(t, "newest"), `29990102000000 +\(of a newer version\) +applied +this version can serve`},
		"newer, must not":     {newerDatabase(t, "29990101000000"), `29990102000000 +\(of a newer version\) +applied +this version cannot serve`},
		"one of several only": {newerDatabase(t, "29990101000000"), `29990101000000 +\(of a newer version\) +applied +this version can serve\n`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			execute(t, c.url, "SELECT 1") // makes the file
			if list := must(t, "migrate", "status", "--database", c.url); !regexp.MustCompile(c.want).MatchString(list) {
				t.Errorf("%s\nwant %s", list, c.want)
			}
		})
	}
}
