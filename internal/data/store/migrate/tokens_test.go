package migrate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/data/store"
	"slipway/internal/data/store/migrate"
)

// givenOut is what a database had before tokens named who made them by id: tokens that the command line made, an admin, a
// superadmin, and a server older than the audit.
const givenOut = `
INSERT INTO organizations (id, created_at, updated_at, name, slug) VALUES
	('org_1', '2026-01-01', '2026-01-01', 'o', 'o'), ('org_2', '2026-01-01', '2026-01-01', 'p', 'p');
INSERT INTO tokens (id, created_at, updated_at, organization_id, name, role, hash, prefix, last_four, created_by) VALUES
	('tok_line', '2026-01-01', '2026-01-01', 'org_1', 'first', 'admin', '1', 'p', 'l', 'cli:root'),
	('tok_made', '2026-01-01', '2026-01-01', 'org_1', 'ci', 'runner', '2', 'p', 'l', 'first'),
	('tok_other', '2026-01-01', '2026-01-01', 'org_2', 'ci', 'runner', '3', 'p', 'l', 'first'),
	('tok_root', '2026-01-01', '2026-01-01', NULL, 'root', 'superadmin', '4', 'p', 'l', 'top'),
	('tok_old', '2026-01-01', '2026-01-01', 'org_1', 'old', 'viewer', '5', 'p', 'l', NULL);`

// givenOutEvents are the audit events of each organization.
var givenOutEvents = map[string]string{
	"org_1": `('aud_1', 'org_1', '2026-01-01', '', 'cli:root', 'system', 'cli', 'createToken', 'tok_line', ''),
		('aud_2', 'org_1', '2026-01-01', 'tok_line', 'first', 'admin', 'graphql', 'createToken', 'tok_made', ''),
		('aud_3', 'org_1', '2026-01-02', 'tok_later', 'later', 'admin', 'graphql', 'revokeToken', 'tok_made', ''),
		('aud_4', 'org_1', '2026-01-02', 'tok_line', 'first', 'admin', 'graphql', 'createToken', 'tok_other', '')`,
	"org_2":  `('aud_5', 'org_2', '2026-01-01', 'tok_two', 'first', 'admin', 'graphql', 'createToken', 'tok_other', '')`,
	"global": `('aud_6', 'global', '2026-01-01', 'tok_top', 'top', 'superadmin', 'graphql', 'createToken', 'tok_root', '')`,
}

func TestWhoMadeATokenIsKnownByIDAfterTheMigration(t *testing.T) {
	t.Parallel()
	const before = 20261122235309
	eachEmpty(t, func(t *testing.T, url string, _ int) {
		migrateTo(t, url, before)
		execute(t, url, givenOut)
		for organization, rows := range givenOutEvents {
			statement := `INSERT INTO audit_events (id, organization_id, created_at, actor_id, actor_name, actor_role, channel, action, object_id, request_id) VALUES ` + rows
			if !strings.HasPrefix(url, "sqlite:") {
				statement = `SELECT set_config('app.org_id', '` + organization + `', false);` + statement
			}
			execute(t, url, statement)
		}
		if _, err := migrate.Up(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(t.Context(), store.Config{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		got := map[string]string{}
		for _, made := range s.Client.Token.Query().AllX(actor.With(t.Context(), &actor.Actor{Role: actor.System})) {
			if made.CreatedByID != nil {
				got[made.ID] = *made.CreatedByID
			}
		}
		want := map[string]string{"tok_made": "tok_line", "tok_other": "tok_two", "tok_root": "tok_top"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
