-- +goose Up
-- compatible-with: 20261122012914
DROP INDEX `deployment_active`;
CREATE UNIQUE INDEX `deployment_active_instance` ON `deployments` (`organization_id`, `module_instance_id`) WHERE completed_at IS NULL AND trigger_source <> 'event';
