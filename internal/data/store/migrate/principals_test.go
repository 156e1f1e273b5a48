package migrate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/data/store"
	"slipway/internal/data/store/migrate"
)

// withoutPrincipals is what a database had before tokens had principals: some whose maker is noted, some that only the audit
// knows of, and some that nobody made.
const withoutPrincipals = `
INSERT INTO organizations (id, created_at, updated_at, name, slug) VALUES
	('org_1', '2026-01-01', '2026-01-01', 'o', 'o'), ('org_2', '2026-01-01', '2026-01-01', 'p', 'p');
INSERT INTO tokens (id, created_at, updated_at, organization_id, name, role, hash, prefix, last_four, created_by_id) VALUES
	('tok_line', '2026-01-01', '2026-01-01', 'org_1', 'x', 'admin', '1', 'p', 'l', NULL),
	('tok_made', '2026-01-01', '2026-01-01', 'org_1', 'x', 'admin', '2', 'p', 'l', 'tok_line'),
	('tok_chain', '2026-01-01', '2026-01-01', 'org_1', 'x', 'admin', '3', 'p', 'l', 'tok_made'),
	('tok_end', '2026-01-01', '2026-01-01', 'org_1', 'x', 'viewer', '4', 'p', 'l', NULL),
	('tok_other', '2026-01-01', '2026-01-01', 'org_2', 'x', 'viewer', '5', 'p', 'l', NULL),
	('tok_gone', '2026-01-01', '2026-01-01', 'org_2', 'x', 'viewer', '6', 'p', 'l', 'tok_unknown'),
	('tok_root', '2026-01-01', '2026-01-01', NULL, 'x', 'superadmin', '7', 'p', 'l', NULL),
	('tok_second', '2026-01-01', '2026-01-01', NULL, 'x', 'superadmin', '8', 'p', 'l', NULL),
	('tok_by_root', '2026-01-01', '2026-01-01', 'org_2', 'x', 'admin', '9', 'p', 'l', NULL),
	('tok_circle', '2026-01-01', '2026-01-01', 'org_2', 'x', 'admin', '10', 'p', 'l', 'tok_round'),
	('tok_round', '2026-01-01', '2026-01-01', 'org_2', 'x', 'admin', '11', 'p', 'l', 'tok_circle');`

// withoutPrincipalsEvents are the audit events of each organization. What an organization says of another's token is no
// matter, and neither is what has no actor.
var withoutPrincipalsEvents = map[string]string{
	"org_1": `('aud_1', 'org_1', '2026-01-01', '', 'cli:root', 'system', 'cli', 'createToken', 'tok_line', ''),
		('aud_2', 'org_1', '2026-01-01', 'tok_chain', 'x', 'admin', 'graphql', 'createToken', 'tok_end', ''),
		('aud_3', 'org_1', '2026-01-02', 'tok_line', 'x', 'admin', 'graphql', 'revokeToken', 'tok_other', ''),
		('aud_4', 'org_1', '2026-01-02', 'tok_line', 'x', 'admin', 'graphql', 'createToken', 'tok_other', '')`,
	"org_2":  `('aud_5', 'org_2', '2026-01-01', 'tok_second', 'x', 'superadmin', 'graphql', 'createToken', 'tok_by_root', '')`,
	"global": `('aud_6', 'global', '2026-01-01', 'tok_root', 'x', 'superadmin', 'graphql', 'createToken', 'tok_second', '')`,
}

func TestThePrincipalsOfTokensAreKnownAfterTheMigration(t *testing.T) {
	t.Parallel()
	const before = 20261126210625
	eachEmpty(t, func(t *testing.T, url string, _ int) {
		migrateTo(t, url, before)
		execute(t, url, withoutPrincipals)
		for organization, rows := range withoutPrincipalsEvents {
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
		type found struct{ Principal, Maker string }
		text := func(s *string) string {
			if s == nil {
				return ""
			}
			return *s
		}
		got := map[string]found{}
		for _, token := range s.Client.Token.Query().AllX(actor.With(t.Context(), &actor.Actor{Role: actor.System})) {
			got[token.ID] = found{text(token.PrincipalID), text(token.MadeByID)}
		}
		want := map[string]found{
			"tok_line": {"tok_line", ""}, "tok_made": {"tok_line", "tok_line"}, "tok_chain": {"tok_line", "tok_line"},
			"tok_end": {"tok_line", "tok_line"}, "tok_other": {"tok_other", ""}, "tok_gone": {"tok_unknown", "tok_unknown"},
			"tok_root": {"tok_root", ""}, "tok_second": {"tok_root", "tok_root"}, "tok_by_root": {"tok_root", "tok_root"},
			"tok_circle": {}, "tok_round": {},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
