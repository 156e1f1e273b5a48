-- +goose Up
-- compatible-with: 20261122012914
-- A session that has no app.isolation may not read: behind a pooler that drops what is sent at connecting, every read would
-- find nothing. The last branch asks for a setting that there never is, which is an error with this text.
-- Each table is locked for a moment. None is waited for long, because those before it stay locked.
SET LOCAL lock_timeout = '20ms';
-- +goose StatementBegin
DO $$
DECLARE
  t text;
  mine constant text := 'organization_id = current_setting(''app.org_id'', true)';
BEGIN
  FOR t IN SELECT tablename FROM pg_policies WHERE schemaname = current_schema() AND policyname = 'tenant_read' LOOP
    EXECUTE format('ALTER POLICY tenant_read ON %I USING (CASE current_setting(''app.isolation'', true) WHEN ''filter'' THEN true WHEN ''strict'' THEN %s ELSE current_setting(''app.isolation, which this session lacks'')::boolean END)',
                   t, CASE WHEN t IN ('module_definitions', 'module_versions') THEN mine || ' OR organization_id IS NULL' ELSE mine END);
  END LOOP;
END $$;
-- +goose StatementEnd
