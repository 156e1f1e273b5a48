package main_test

import (
	"path/filepath"
	"strings"
	"testing"

	main "slipway/cmd/slipway"
	"slipway/internal/test/pgtest"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

func TestNoCommandUsesADatabaseWhosePoolerDropsSettings(t *testing.T) {
	t.Parallel()
	for _, command := range withDatabase(main.Commands(variables{}.lookup)) {
		switch command {
		case "backup", "restore", "migrate status": // the first two work on SQLite only, and the last reads only the list of migrations
			continue
		}
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			url := worldtest.Postgres(t)
			if command == "migrate up" {
				url = pgtest.URL(t)
			}
			pooler, through := testkit.NewForgetful(t, url)
			pooler.Drops.Store(true)
			args := append(strings.Fields(command), "--database", through)
			for _, arg := range strings.Fields(databaseCommands[command]) {
				args = append(args, strings.ReplaceAll(arg, "NEW", filepath.Join(t.TempDir(), "new")))
			}
			o := run(t, variables{"HOME": t.TempDir()}, args...)
			if o.code != 1 || !strings.Contains(o.stderr, "; run as a superuser: ALTER ROLE ") || !strings.Contains(o.stderr, "let the pooler reconnect") {
				t.Errorf("exit code %d, %s", o.code, o.stderr)
			}
		})
	}
}

func TestAServerWhosePoolerDropsSettingsIsNotReady(t *testing.T) {
	t.Parallel()
	pooler, through := testkit.NewForgetful(t, worldtest.Postgres(t))
	s := serve(t, "--database", through)
	if got := status(t, s.Health+"/readyz", ""); got != 200 {
		t.Fatalf("/readyz: %d", got)
	}
	pooler.Drops.Store(true)
	pooler.Cut()
	for why := ""; !strings.Contains(why, "ALTER ROLE "); { // after the connections that were cut
		answer, body := say(t, "127.0.0.1", s.Health, "/readyz", "Host: localhost\r\n")
		if why = body; answer.StatusCode != 503 {
			t.Fatalf("/readyz: %d %s", answer.StatusCode, body)
		}
	}
	pooler.Drops.Store(false)
	if got := status(t, s.Health+"/readyz", ""); got != 200 {
		t.Errorf("/readyz with the settings again: %d", got)
	}
}
