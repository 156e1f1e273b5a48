-- +goose Up
-- compatible-with: 20261122012914
-- The audit knows who made the tokens that there are; the organization of superadmins' is global.
-- +goose StatementBegin
DO $$
DECLARE
  o text;
BEGIN
  FOR o IN SELECT id FROM organizations UNION ALL SELECT 'global' LOOP
    PERFORM set_config('app.org_id', o, true);
    UPDATE tokens t SET created_by_id = e.actor_id
    FROM audit_events e
    WHERE COALESCE(t.organization_id, 'global') = o AND t.created_by_id IS NULL
      AND e.organization_id = o AND e.object_id = t.id AND e.action = 'createToken' AND e.actor_id <> '';
  END LOOP;
END $$;
-- +goose StatementEnd
