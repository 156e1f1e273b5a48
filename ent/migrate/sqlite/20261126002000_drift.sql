-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE `module_instances` ADD COLUMN `drift_kind` text NULL;
ALTER TABLE `module_instances` ADD COLUMN `drift_since` datetime NULL;
ALTER TABLE `module_instances` ADD COLUMN `drift_message` text NULL;
ALTER TABLE `module_instances` ADD COLUMN `drift_deployment_id` text NULL;
CREATE INDEX `moduleinstance_drift_newest` ON `module_instances` (`organization_id`, `drift_kind`, `created_at` DESC, `id` DESC) WHERE drift_kind IS NOT NULL;
ALTER TABLE `deployments` ADD COLUMN `setbacks` text NULL;
CREATE INDEX `deployment_succeeded_outside` ON `deployments` (`organization_id`, `module_instance_id`, `completed_at`) WHERE status = 'SUCCEEDED' AND trigger_source = 'event';
