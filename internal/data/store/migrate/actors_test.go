package migrate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/base/optional"
	"slipway/internal/data/store"
	"slipway/internal/data/store/migrate"
)

// done is what a database had before records named who did something by the id of a token: what ran and its like that has
// ended, a version that is deprecated, a quarantine that was replaced, rules, and a token that was revoked.
const done = `
UPDATE deployments SET cancel_requested_at = '2026-01-01', cancel_requested_by = 'ann';
INSERT INTO module_versions (id, created_at, updated_at, organization_id, module_definition_id, version, kind, inputs, deprecated_at, deprecated_by, deprecation_reason)
	VALUES ('mver_1', '2026-01-01', '2026-01-01', 'org_1', 'mod_1', '1.0.0', 'terraform', '[]', '2026-01-03', 'ann', 'old');
INSERT INTO releases (id, created_at, updated_at, organization_id, module_version_id, digest, content)
	VALUES ('rel_1', '2026-01-01', '2026-01-01', 'org_1', 'mver_1', 'd', '{}');
INSERT INTO quarantines (id, organization_id, release_id, reason, created_at, created_by, lifted_at, lifted_by) VALUES
	('qua_1', 'org_1', 'rel_1', 'bad', '2026-01-01', 'ann', '2026-01-02', 'bob'),
	('qua_2', 'org_1', 'rel_1', 'worse', '2026-01-02', 'bob', NULL, NULL);
INSERT INTO rules (id, created_at, updated_at, organization_id, name, operations, demand, overridable, created_by, ended_at) VALUES
	('rule_1', '2026-01-01', '2026-01-01', 'org_1', 'r', '[]', '{}', true, 'ann', '2026-01-02'),
	('rule_2', '2026-01-01', '2026-01-01', 'org_1', 'r', '[]', '{}', true, 'ann', NULL);
INSERT INTO tokens (id, created_at, updated_at, organization_id, name, role, hash, prefix, last_four, revoked_at) VALUES
	('tok_1', '2026-01-01', '2026-01-01', 'org_1', 'x', 'runner', '1', 'p', 'l', '2026-01-02'),
	('tok_2', '2026-01-01', '2026-01-01', 'org_1', 'y', 'runner', '2', 'p', 'l', NULL);
INSERT INTO audit_events (id, organization_id, created_at, actor_id, actor_name, actor_role, channel, action, object_id, request_id) VALUES
	('aud_1', 'org_1', '2026-01-01', 'tok_ann', 'ann', 'admin', 'graphql', 'createDeployment', 'dep_01m80r5278fe18ncmhgnffjme5', ''),
	('aud_2', 'org_1', '2026-01-01', 'tok_run', 'r', 'runner', 'graphql', 'claimDeployment', 'dep_01m80r5278fe18ncmhgnffjme5', ''),
	('aud_3', 'org_1', '2026-01-01', 'tok_ann', 'ann', 'admin', 'graphql', 'cancelDeployment', 'dep_01m80r5278fe18ncmhgnffjme5', ''),
	('aud_4', 'org_1', '2026-01-02', 'tok_bob', 'bob', 'admin', 'graphql', 'cancelDeployment', 'dep_01m80r5278fe18ncmhgnffjme5', ''),
	('aud_5', 'org_1', '2026-01-01', 'tok_ann', 'ann', 'admin', 'graphql', 'createDeployment', 'dep_01m80r51pbfd5vsv1w7y82fpsy', ''),
	('aud_6', 'org_1', '2026-01-02', 'tok_bob', 'bob', 'admin', 'graphql', 'deprecateModuleVersion', 'mver_1', ''),
	('aud_7', 'org_1', '2026-01-03', 'tok_ann', 'ann', 'admin', 'graphql', 'deprecateModuleVersion', 'mver_1', ''),
	('aud_8', 'org_1', '2026-01-01', 'tok_ann', 'ann', 'admin', 'graphql', 'quarantineRelease', 'rel_1', ''),
	('aud_9', 'org_1', '2026-01-02', 'tok_bob', 'bob', 'admin', 'graphql', 'quarantineRelease', 'rel_1', ''),
	('aud_a', 'org_1', '2026-01-01', 'tok_ann', 'ann', 'admin', 'graphql', 'createRule', 'rule_1', ''),
	('aud_b', 'org_1', '2026-01-02', 'tok_bob', 'bob', 'admin', 'graphql', 'endRule', 'rule_1', ''),
	('aud_c', 'org_1', '2026-01-02', '', 'cli:root', 'system', 'cli', 'revokeToken', 'tok_1', '');`

func TestWhoDidSomethingIsKnownByIDAfterTheMigration(t *testing.T) {
	t.Parallel()
	const before = 20261127201700
	eachEmpty(t, func(t *testing.T, url string, _ int) {
		migrateTo(t, url, before)
		statement := ran + done
		if !strings.HasPrefix(url, "sqlite:") {
			statement = `SELECT set_config('app.org_id', 'org_1', false), set_config('app.isolation', 'filter', false);` + statement
		}
		execute(t, url, statement)
		if _, err := migrate.Up(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(t.Context(), store.Config{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })

		viewer := actor.With(t.Context(), &actor.Actor{Role: actor.Viewer, OrganizationID: "org_1"})
		got := map[string]string{}
		for _, d := range s.Client.Deployment.Query().AllX(viewer) {
			got[string(d.Status)] = strings.Join([]string{
				optional.OrZero(d.CreatedByActor), optional.OrZero(d.RunnerActor), optional.OrZero(d.CancelRequestedByActor),
			}, " ")
		}
		got["version"] = optional.OrZero(s.Client.ModuleVersion.GetX(viewer, "mver_1").DeprecatedByActor)
		for _, q := range s.Client.Quarantine.Query().AllX(viewer) {
			got[q.ID] = optional.OrZero(q.CreatedByActor) + " " + optional.OrZero(q.LiftedByActor)
		}
		for _, r := range s.Client.Rule.Query().AllX(viewer) {
			got[r.ID] = optional.OrZero(r.CreatedByActor) + " " + optional.OrZero(r.EndedBy) + " " + optional.OrZero(r.EndedByActor)
		}
		for _, k := range s.Client.Token.Query().AllX(actor.With(t.Context(), &actor.Actor{Role: actor.System})) {
			got[k.ID] = optional.OrZero(k.RevokedBy) + " " + optional.OrZero(k.RevokedByActor)
		}
		want := map[string]string{
			"FAILED": "tok_ann tok_run tok_ann", "RUNNING": "  ", // nobody waits for what is under way
			"version": "tok_ann", "qua_1": "tok_ann tok_bob", "qua_2": "tok_bob ",
			"rule_1": "tok_ann bob tok_bob", "rule_2": "  ", "tok_1": "cli:root ", "tok_2": " ",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("want (-), got (+):\n%s", diff)
		}
	})
}
