-- +goose Up
-- compatible-with: 20261122012914
-- What was started outside began and ended by its events.
-- +goose StatementBegin
DO $$
DECLARE
  o text;
BEGIN
  FOR o IN SELECT id FROM organizations LOOP
    PERFORM set_config('app.org_id', o, true);
    UPDATE deployments SET cloud_started_at = started_at,
      cloud_ended_at = CASE WHEN status IN ('SUCCEEDED', 'FAILED') THEN completed_at END
    WHERE organization_id = o AND trigger_source = 'event' AND cloud_started_at IS NULL;
  END LOOP;
END $$;
-- +goose StatementEnd
