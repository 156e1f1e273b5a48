-- +goose Up
-- compatible-with: 20261122012914
-- A service belongs to the instance of the last deployment that has it. What comes later claims it by itself.
-- +goose StatementBegin
DO $$
DECLARE
  o text;
BEGIN
  FOR o IN SELECT id FROM organizations LOOP
    PERFORM set_config('app.org_id', o, true);
    INSERT INTO cloud_services (organization_id, service_arn, module_instance_id, created_at, updated_at)
    SELECT DISTINCT ON (d.service_arn) o, d.service_arn, d.module_instance_id, d.created_at, d.created_at
    FROM deployments d WHERE d.organization_id = o AND d.service_arn IS NOT NULL
    ORDER BY d.service_arn, d.created_at DESC, d.id DESC;
  END LOOP;
END $$;
-- +goose StatementEnd
