-- +goose Up
-- compatible-with: 20261122012914
-- What is live has its service known from the start; what comes later writes it by itself.
-- +goose StatementBegin
DO $$
DECLARE
  o text;
BEGIN
  FOR o IN SELECT id FROM organizations LOOP
    PERFORM set_config('app.org_id', o, true);
    -- Text with an escape may be one that PostgreSQL cannot decode.
    UPDATE deployments d SET service_arn = live.service_arn
    FROM (
      SELECT l.id, CASE WHEN strpos(l.data::text, '\u') > 0 THEN NULL ELSE l.data->>'serviceArn' END AS service_arn
      FROM module_instances i JOIN deployments l ON l.id = i.live_deployment_id
      WHERE i.organization_id = o AND l.organization_id = o
    ) live
    WHERE d.id = live.id AND d.organization_id = o AND d.service_arn IS NULL
      AND live.service_arn LIKE 'arn:%:ecs:%:service/%' AND octet_length(live.service_arn) <= 512;
  END LOOP;
END $$;
-- +goose StatementEnd
