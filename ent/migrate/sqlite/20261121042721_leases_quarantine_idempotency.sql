-- +goose Up
-- disable the enforcement of foreign-keys constraints
PRAGMA foreign_keys = off;
-- create index "auditevent_organization_id_actor_id_created_at_id" to table: "audit_events"
CREATE INDEX `auditevent_organization_id_actor_id_created_at_id` ON `audit_events` (`organization_id`, `actor_id`, `created_at` DESC, `id` DESC);
-- create index "auditevent_organization_id_action_created_at_id" to table: "audit_events"
CREATE INDEX `auditevent_organization_id_action_created_at_id` ON `audit_events` (`organization_id`, `action`, `created_at` DESC, `id` DESC);
-- create "new_deployments" table
CREATE TABLE `new_deployments` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `organization_id` text NOT NULL, `deployment_type` text NOT NULL, `trigger_source` text NOT NULL, `status` text NOT NULL DEFAULT ('PENDING'), `description` text NULL, `started_at` datetime NULL, `completed_at` datetime NULL, `error` text NULL, `external_deployment_id` text NULL, `pipeline_run_id` text NULL, `step_execution_id` text NULL, `resource_arn` text NULL, `resource_name` text NULL, `data` text NULL, `events` text NULL, `folded_events` integer NOT NULL DEFAULT (0), `created_by` text NOT NULL, `runner` text NULL, `lease_id` text NULL, `lease_expires_at` datetime NULL, `report_sequence` integer NOT NULL DEFAULT (0), `version` integer NOT NULL DEFAULT (1), `project_id` text NOT NULL, `environment_id` text NOT NULL, `module_instance_id` text NOT NULL, `release_id` text NULL, `redeploy_of_deployment_id` text NULL, `rollback_to_deployment_id` text NULL, PRIMARY KEY (`id`), CONSTRAINT `deployments_projects_project` FOREIGN KEY (`project_id`) REFERENCES `projects` (`id`) ON DELETE NO ACTION, CONSTRAINT `deployments_environments_environment` FOREIGN KEY (`environment_id`) REFERENCES `environments` (`id`) ON DELETE NO ACTION, CONSTRAINT `deployments_module_instances_module_instance` FOREIGN KEY (`module_instance_id`) REFERENCES `module_instances` (`id`) ON DELETE NO ACTION, CONSTRAINT `deployments_releases_release` FOREIGN KEY (`release_id`) REFERENCES `releases` (`id`) ON DELETE SET NULL, CONSTRAINT `deployments_deployments_redeploys` FOREIGN KEY (`redeploy_of_deployment_id`) REFERENCES `deployments` (`id`) ON DELETE SET NULL, CONSTRAINT `deployments_deployments_rollbacks` FOREIGN KEY (`rollback_to_deployment_id`) REFERENCES `deployments` (`id`) ON DELETE SET NULL);
-- copy rows from old table "deployments" to new temporary table "new_deployments"
INSERT INTO `new_deployments` (`id`, `created_at`, `updated_at`, `organization_id`, `deployment_type`, `trigger_source`, `status`, `description`, `started_at`, `completed_at`, `error`, `external_deployment_id`, `pipeline_run_id`, `step_execution_id`, `resource_arn`, `resource_name`, `data`, `created_by`, `version`, `project_id`, `environment_id`, `module_instance_id`, `release_id`, `redeploy_of_deployment_id`, `rollback_to_deployment_id`) SELECT `id`, `created_at`, `updated_at`, `organization_id`, `deployment_type`, `trigger_source`, `status`, `description`, `started_at`, `completed_at`, `error`, `external_deployment_id`, `pipeline_run_id`, `step_execution_id`, `resource_arn`, `resource_name`, `data`, `created_by`, `version`, `project_id`, `environment_id`, `module_instance_id`, `release_id`, `redeploy_of_deployment_id`, `rollback_to_deployment_id` FROM `deployments`;
-- drop "deployments" table after copying rows
DROP TABLE `deployments`;
-- rename temporary table "new_deployments" to "deployments"
ALTER TABLE `new_deployments` RENAME TO `deployments`;
-- create index "deployment_one_active" to table: "deployments"
CREATE UNIQUE INDEX `deployment_one_active` ON `deployments` (`module_instance_id`) WHERE completed_at IS NULL;
-- create index "deployment_lease" to table: "deployments"
CREATE UNIQUE INDEX `deployment_lease` ON `deployments` (`organization_id`, `lease_id`);
-- create index "deployment_lease_expires_at" to table: "deployments"
CREATE INDEX `deployment_lease_expires_at` ON `deployments` (`lease_expires_at`) WHERE lease_expires_at IS NOT NULL;
-- create index "deployment_organization_id_created_at_id" to table: "deployments"
CREATE INDEX `deployment_organization_id_created_at_id` ON `deployments` (`organization_id`, `created_at` DESC, `id` DESC);
-- create index "deployment_organization_id_project_id_created_at_id" to table: "deployments"
CREATE INDEX `deployment_organization_id_project_id_created_at_id` ON `deployments` (`organization_id`, `project_id`, `created_at` DESC, `id` DESC);
-- create index "deployment_organization_id_environment_id_created_at_id" to table: "deployments"
CREATE INDEX `deployment_organization_id_environment_id_created_at_id` ON `deployments` (`organization_id`, `environment_id`, `created_at` DESC, `id` DESC);
-- create index "deployment_organization_id_module_instance_id_created_at_id" to table: "deployments"
CREATE INDEX `deployment_organization_id_module_instance_id_created_at_id` ON `deployments` (`organization_id`, `module_instance_id`, `created_at` DESC, `id` DESC);
-- create index "deployment_organization_id_release_id_created_at_id" to table: "deployments"
CREATE INDEX `deployment_organization_id_release_id_created_at_id` ON `deployments` (`organization_id`, `release_id`, `created_at` DESC, `id` DESC);
-- create index "deployment_organization_id_status_created_at_id" to table: "deployments"
CREATE INDEX `deployment_organization_id_status_created_at_id` ON `deployments` (`organization_id`, `status`, `created_at` DESC, `id` DESC);
-- create index "deployment_organization_id_deployment_type_created_at_id" to table: "deployments"
CREATE INDEX `deployment_organization_id_deployment_type_created_at_id` ON `deployments` (`organization_id`, `deployment_type`, `created_at` DESC, `id` DESC);
-- create "deployment_changes" table
CREATE TABLE `deployment_changes` (`id` integer NOT NULL PRIMARY KEY AUTOINCREMENT, `organization_id` text NOT NULL, `xid` integer NULL DEFAULT (0), `deployment_id` text NOT NULL, `version` integer NOT NULL, `created_at` datetime NOT NULL);
-- create index "deploymentchange_xid_id" to table: "deployment_changes"
CREATE INDEX `deploymentchange_xid_id` ON `deployment_changes` (`xid`, `id`);
-- create index "deploymentchange_created_at" to table: "deployment_changes"
CREATE INDEX `deploymentchange_created_at` ON `deployment_changes` (`created_at`);
-- create "idempotency_keys" table
CREATE TABLE `idempotency_keys` (`id` text NOT NULL, `organization_id` text NOT NULL, `actor_id` text NOT NULL, `key` text NOT NULL, `request_hash` text NOT NULL, `deployment_id` text NOT NULL, `created_at` datetime NOT NULL, PRIMARY KEY (`id`));
-- create index "idempotency_key_key" to table: "idempotency_keys"
CREATE UNIQUE INDEX `idempotency_key_key` ON `idempotency_keys` (`organization_id`, `actor_id`, `key`);
-- create index "idempotencykey_created_at" to table: "idempotency_keys"
CREATE INDEX `idempotencykey_created_at` ON `idempotency_keys` (`created_at`);
-- create "quarantines" table
CREATE TABLE `quarantines` (`id` text NOT NULL, `organization_id` text NOT NULL, `reason` text NOT NULL, `created_at` datetime NOT NULL, `created_by` text NOT NULL, `until` datetime NULL, `lifted_at` datetime NULL, `lifted_by` text NULL, `release_id` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `quarantines_releases_release` FOREIGN KEY (`release_id`) REFERENCES `releases` (`id`) ON DELETE NO ACTION);
-- create index "quarantine_one_open" to table: "quarantines"
CREATE UNIQUE INDEX `quarantine_one_open` ON `quarantines` (`release_id`) WHERE lifted_at IS NULL;
-- create index "quarantine_organization_id_release_id_created_at_id" to table: "quarantines"
CREATE INDEX `quarantine_organization_id_release_id_created_at_id` ON `quarantines` (`organization_id`, `release_id`, `created_at` DESC, `id` DESC);
-- enable back the enforcement of foreign-keys constraints
PRAGMA foreign_keys = on;
