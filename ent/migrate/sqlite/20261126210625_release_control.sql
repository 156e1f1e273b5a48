-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE `deployments` ADD COLUMN `created_by_id` text NULL;
ALTER TABLE `deployments` ADD COLUMN `promoted_from` text NULL;
ALTER TABLE `deployments` ADD COLUMN `after_failure_of` text NULL;
ALTER TABLE `deployments` ADD COLUMN `acknowledges_dependents` bool NOT NULL DEFAULT (false);
ALTER TABLE `deployments` ADD COLUMN `replaces_id` text NULL;
ALTER TABLE `deployments` ADD COLUMN `waits_until` datetime NULL;
ALTER TABLE `deployments` ADD COLUMN `override` text NULL;
ALTER TABLE `module_instances` ADD COLUMN `own_inputs` text NULL;
ALTER TABLE `module_instances` ADD COLUMN `on_failure` text NOT NULL DEFAULT ('NOTHING');
ALTER TABLE `tokens` ADD COLUMN `holder` text NULL;
ALTER TABLE `tokens` ADD COLUMN `principal_id` text NULL;
ALTER TABLE `tokens` ADD COLUMN `made_by_id` text NULL;
CREATE TABLE `approvals` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `organization_id` text NOT NULL, `principal_id` text NOT NULL, `token_id` text NOT NULL, `created_by` text NOT NULL, `role` text NOT NULL, `approved` bool NOT NULL, `comment` text NULL, `deployment_id` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `approvals_deployments_deployment` FOREIGN KEY (`deployment_id`) REFERENCES `deployments` (`id`) ON DELETE CASCADE);
CREATE UNIQUE INDEX `approval_one_voice` ON `approvals` (`organization_id`, `deployment_id`, `principal_id`);
CREATE TABLE `rules` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `organization_id` text NOT NULL, `name` text NOT NULL, `project_id` text NULL, `environment_id` text NULL, `operations` text NOT NULL, `demand` text NOT NULL, `overridable` bool NOT NULL, `created_by` text NOT NULL, `ended_at` datetime NULL, `version` integer NOT NULL DEFAULT (1), PRIMARY KEY (`id`));
CREATE INDEX `rule_in_force` ON `rules` (`organization_id`, `created_at`, `id`) WHERE ended_at IS NULL;
CREATE INDEX `rule_organization_id_created_at_id` ON `rules` (`organization_id`, `created_at` DESC, `id` DESC);
CREATE INDEX `token_makers` ON `tokens` (`principal_id`, `made_by_id`) WHERE made_by_id IS NOT NULL;
CREATE UNIQUE INDEX `deployment_in_progress` ON `deployments` (`organization_id`, `module_instance_id`) WHERE completed_at IS NULL AND trigger_source <> 'event' AND status <> 'AWAITING_APPROVAL';
CREATE INDEX `deployment_awaiting_instance` ON `deployments` (`organization_id`, `module_instance_id`, `id`) WHERE status = 'AWAITING_APPROVAL';
CREATE INDEX `deployment_awaiting_until` ON `deployments` (`waits_until`, `id`) WHERE status = 'AWAITING_APPROVAL';
CREATE UNIQUE INDEX `deployment_after_failure` ON `deployments` (`organization_id`, `after_failure_of`) WHERE after_failure_of IS NOT NULL;
CREATE INDEX `deployment_overridden_newest` ON `deployments` (`organization_id`, `created_at` DESC, `id` DESC) WHERE override IS NOT NULL;
CREATE INDEX `token_made` ON `tokens` (`made_by_id`, `principal_id`) WHERE made_by_id IS NOT NULL;
-- deployment_in_progress is in its place.
DROP INDEX `deployment_active_instance`;
