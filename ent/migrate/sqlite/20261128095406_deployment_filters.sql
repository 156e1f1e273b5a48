-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE `deployments` ADD COLUMN `module_definition_id` text NULL;
ALTER TABLE `deployments` ADD COLUMN `module_version_id` text NULL;
ALTER TABLE `deployments` ADD COLUMN `search_text` text NULL;
CREATE INDEX `deployment_unfilled` ON `deployments` (`id`) WHERE module_definition_id IS NULL;
CREATE INDEX `deployment_organization_id_trigger_source_created_at_id` ON `deployments` (`organization_id`, `trigger_source`, `created_at` DESC, `id` DESC);
CREATE INDEX `deployment_definition_newest` ON `deployments` (`organization_id`, `module_definition_id`, `created_at` DESC, `id` DESC);
CREATE INDEX `deployment_version_newest` ON `deployments` (`organization_id`, `module_version_id`, `created_at` DESC, `id` DESC);
CREATE INDEX `deployment_creator_newest` ON `deployments` (`organization_id`, `created_by_id`, `created_at` DESC, `id` DESC);
CREATE INDEX `deployment_pipeline_newest` ON `deployments` (`organization_id`, `pipeline_run_id`, `created_at` DESC, `id` DESC) WHERE pipeline_run_id IS NOT NULL;
CREATE INDEX `deployment_environment_completed` ON `deployments` (`organization_id`, `environment_id`, `status`, `completed_at` DESC, `id` DESC) WHERE completed_at IS NOT NULL;
CREATE INDEX `deployment_instance_completed` ON `deployments` (`organization_id`, `module_instance_id`, `status`, `completed_at` DESC, `id` DESC) WHERE completed_at IS NOT NULL;
CREATE INDEX `deployment_trigger_status_newest` ON `deployments` (`organization_id`, `trigger_source`, `status`, `created_at` DESC, `id` DESC);
