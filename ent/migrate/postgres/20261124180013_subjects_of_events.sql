-- +goose Up
-- compatible-with: 20261122012914
-- +goose StatementBegin
DO $$
DECLARE
  o text;
BEGIN
  FOR o IN SELECT id FROM organizations LOOP
    PERFORM set_config('app.org_id', o, true);
    -- Text with an escape may be one that PostgreSQL cannot decode.
    UPDATE cloud_events SET subject = CASE
      WHEN strpos(event::text, '\u') > 0 THEN NULL
      WHEN event->>'kind' = 'ECS Deployment State Change' THEN NULLIF(event->>'deploymentId', '')
      WHEN event->>'kind' = 'ECS Hook State Change' THEN NULLIF(event->>'serviceDeploymentArn', '')
    END
    WHERE organization_id = o AND subject IS NULL;
  END LOOP;
END $$;
-- +goose StatementEnd
