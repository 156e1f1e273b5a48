-- +goose Up
-- compatible-with: 20261122012914
CREATE INDEX `deployment_open_outside` ON `deployments` (`organization_id`, `module_instance_id`, `service_arn`, `cloud_started_at`) WHERE completed_at IS NULL AND trigger_source = 'event';
