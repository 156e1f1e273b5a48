-- +goose Up
-- The second lock behind the store's filter. app.org_id is whose rows a transaction is about; a session
-- in the isolation "filter" may read beyond it, and nothing may ever write beyond it.
-- +goose StatementBegin
DO $$
DECLARE
  t text;
  owner text;
  mine text;
  visible text;
BEGIN
  FOREACH t IN ARRAY ARRAY['projects', 'environments', 'module_instances', 'releases', 'deployments',
                           'default_value_definitions', 'audit_events', 'module_definitions', 'module_versions'] LOOP
    IF t IN ('module_definitions', 'module_versions') THEN
      -- Shared: without an organization everybody reads it, and the scope "global" writes it.
      owner := 'coalesce(organization_id, ''global'')';
      visible := ' OR organization_id IS NULL';
    ELSE
      owner := 'organization_id';
      visible := '';
    END IF;
    mine := owner || ' = current_setting(''app.org_id'', true)';
    visible := mine || visible || ' OR current_setting(''app.isolation'', true) = ''filter''';
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY tenant_read ON %I FOR SELECT USING (%s)', t, visible);
    EXECUTE format('CREATE POLICY tenant_insert ON %I FOR INSERT WITH CHECK (%s)', t, mine);
    EXECUTE format('CREATE POLICY tenant_update ON %I FOR UPDATE USING (%s) WITH CHECK (%s)', t, mine, mine);
    EXECUTE format('CREATE POLICY tenant_delete ON %I FOR DELETE USING (%s)', t, mine);
  END LOOP;
END $$;
-- +goose StatementEnd
