-- +goose Up
-- create "audit_events" table
CREATE TABLE `audit_events` (`id` text NOT NULL, `organization_id` text NOT NULL, `created_at` datetime NOT NULL, `actor_id` text NOT NULL, `actor_name` text NOT NULL, `actor_role` text NOT NULL, `channel` text NOT NULL, `action` text NOT NULL, `object_id` text NOT NULL, `request_id` text NOT NULL, `changes` text NULL, PRIMARY KEY (`id`));
-- create index "auditevent_organization_id_created_at_id" to table: "audit_events"
CREATE INDEX `auditevent_organization_id_created_at_id` ON `audit_events` (`organization_id`, `created_at` DESC, `id` DESC);
-- create index "auditevent_organization_id_object_id_created_at_id" to table: "audit_events"
CREATE INDEX `auditevent_organization_id_object_id_created_at_id` ON `audit_events` (`organization_id`, `object_id`, `created_at` DESC, `id` DESC);
-- create "default_value_definitions" table
CREATE TABLE `default_value_definitions` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `given_id` text NOT NULL, `name` text NOT NULL, `description` text NULL, `schema` text NOT NULL, `created_by_type` text NOT NULL DEFAULT ('USER'), `version` integer NOT NULL DEFAULT (1), `organization_id` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `default_value_definitions_organizations_organization` FOREIGN KEY (`organization_id`) REFERENCES `organizations` (`id`) ON DELETE NO ACTION);
-- create index "default_value_definition_given_id" to table: "default_value_definitions"
CREATE UNIQUE INDEX `default_value_definition_given_id` ON `default_value_definitions` (`organization_id`, `given_id`);
-- create index "defaultvaluedefinition_organization_id_created_at_id" to table: "default_value_definitions"
CREATE INDEX `defaultvaluedefinition_organization_id_created_at_id` ON `default_value_definitions` (`organization_id`, `created_at` DESC, `id` DESC);
-- create "deployments" table
CREATE TABLE `deployments` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `organization_id` text NOT NULL, `deployment_type` text NOT NULL, `trigger_source` text NOT NULL, `status` text NOT NULL DEFAULT ('PENDING'), `description` text NULL, `started_at` datetime NULL, `completed_at` datetime NULL, `error` text NULL, `external_deployment_id` text NULL, `pipeline_run_id` text NULL, `step_execution_id` text NULL, `resource_arn` text NULL, `resource_name` text NULL, `data` text NULL, `created_by` text NOT NULL, `version` integer NOT NULL DEFAULT (1), `project_id` text NOT NULL, `environment_id` text NOT NULL, `module_instance_id` text NOT NULL, `release_id` text NULL, `redeploy_of_deployment_id` text NULL, `rollback_to_deployment_id` text NULL, PRIMARY KEY (`id`), CONSTRAINT `deployments_projects_project` FOREIGN KEY (`project_id`) REFERENCES `projects` (`id`) ON DELETE NO ACTION, CONSTRAINT `deployments_environments_environment` FOREIGN KEY (`environment_id`) REFERENCES `environments` (`id`) ON DELETE NO ACTION, CONSTRAINT `deployments_module_instances_module_instance` FOREIGN KEY (`module_instance_id`) REFERENCES `module_instances` (`id`) ON DELETE NO ACTION, CONSTRAINT `deployments_releases_release` FOREIGN KEY (`release_id`) REFERENCES `releases` (`id`) ON DELETE SET NULL, CONSTRAINT `deployments_deployments_redeploys` FOREIGN KEY (`redeploy_of_deployment_id`) REFERENCES `deployments` (`id`) ON DELETE SET NULL, CONSTRAINT `deployments_deployments_rollbacks` FOREIGN KEY (`rollback_to_deployment_id`) REFERENCES `deployments` (`id`) ON DELETE SET NULL);
-- create index "deployment_one_active" to table: "deployments"
CREATE UNIQUE INDEX `deployment_one_active` ON `deployments` (`module_instance_id`) WHERE completed_at IS NULL;
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
-- create "environments" table
CREATE TABLE `environments` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `organization_id` text NOT NULL, `name` text NOT NULL, `slug` text NOT NULL, `project_id` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `environments_projects_project` FOREIGN KEY (`project_id`) REFERENCES `projects` (`id`) ON DELETE NO ACTION);
-- create index "environment_slug" to table: "environments"
CREATE UNIQUE INDEX `environment_slug` ON `environments` (`project_id`, `slug`);
-- create index "environment_organization_id_created_at_id" to table: "environments"
CREATE INDEX `environment_organization_id_created_at_id` ON `environments` (`organization_id`, `created_at` DESC, `id` DESC);
-- create index "environment_organization_id_project_id_created_at_id" to table: "environments"
CREATE INDEX `environment_organization_id_project_id_created_at_id` ON `environments` (`organization_id`, `project_id`, `created_at` DESC, `id` DESC);
-- create "module_definitions" table
CREATE TABLE `module_definitions` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `organization_id` text NULL, `name` text NOT NULL, `description` text NULL, `type` text NOT NULL, `search_text` text NOT NULL, `status` text NOT NULL, `latest_version` text NULL, `latest_version_id` text NULL, PRIMARY KEY (`id`));
-- create index "module_definition_type" to table: "module_definitions"
CREATE UNIQUE INDEX `module_definition_type` ON `module_definitions` (`organization_id`, `type`);
-- create index "module_definition_global_type" to table: "module_definitions"
CREATE UNIQUE INDEX `module_definition_global_type` ON `module_definitions` (`type`) WHERE organization_id IS NULL;
-- create index "moduledefinition_organization_id_created_at_id" to table: "module_definitions"
CREATE INDEX `moduledefinition_organization_id_created_at_id` ON `module_definitions` (`organization_id`, `created_at` DESC, `id` DESC);
-- create index "moduledefinition_organization_id_status_created_at_id" to table: "module_definitions"
CREATE INDEX `moduledefinition_organization_id_status_created_at_id` ON `module_definitions` (`organization_id`, `status`, `created_at` DESC, `id` DESC);
-- create "module_instances" table
CREATE TABLE `module_instances` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `organization_id` text NOT NULL, `name` text NOT NULL, `project_id` text NOT NULL, `environment_id` text NOT NULL, `module_definition_id` text NOT NULL, `live_deployment_id` text NULL, PRIMARY KEY (`id`), CONSTRAINT `module_instances_projects_project` FOREIGN KEY (`project_id`) REFERENCES `projects` (`id`) ON DELETE NO ACTION, CONSTRAINT `module_instances_environments_environment` FOREIGN KEY (`environment_id`) REFERENCES `environments` (`id`) ON DELETE NO ACTION, CONSTRAINT `module_instances_module_definitions_module_definition` FOREIGN KEY (`module_definition_id`) REFERENCES `module_definitions` (`id`) ON DELETE NO ACTION, CONSTRAINT `module_instances_deployments_live_deployment` FOREIGN KEY (`live_deployment_id`) REFERENCES `deployments` (`id`) ON DELETE SET NULL);
-- create index "module_instance_name" to table: "module_instances"
CREATE UNIQUE INDEX `module_instance_name` ON `module_instances` (`environment_id`, `name`);
-- create index "moduleinstance_organization_id_created_at_id" to table: "module_instances"
CREATE INDEX `moduleinstance_organization_id_created_at_id` ON `module_instances` (`organization_id`, `created_at` DESC, `id` DESC);
-- create index "moduleinstance_organization_id_environment_id_created_at_id" to table: "module_instances"
CREATE INDEX `moduleinstance_organization_id_environment_id_created_at_id` ON `module_instances` (`organization_id`, `environment_id`, `created_at` DESC, `id` DESC);
-- create index "moduleinstance_definition_newest" to table: "module_instances"
CREATE INDEX `moduleinstance_definition_newest` ON `module_instances` (`organization_id`, `module_definition_id`, `created_at` DESC, `id` DESC);
-- create "module_versions" table
CREATE TABLE `module_versions` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `organization_id` text NULL, `version` text NOT NULL, `kind` text NOT NULL, `inputs` text NOT NULL, `source_url` text NULL, `source_ref` text NULL, `module_definition_id` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `module_versions_module_definitions_module_definition` FOREIGN KEY (`module_definition_id`) REFERENCES `module_definitions` (`id`) ON DELETE NO ACTION);
-- create index "module_version_version" to table: "module_versions"
CREATE UNIQUE INDEX `module_version_version` ON `module_versions` (`module_definition_id`, `version`);
-- create index "moduleversion_module_definition_id_created_at_id" to table: "module_versions"
CREATE INDEX `moduleversion_module_definition_id_created_at_id` ON `module_versions` (`module_definition_id`, `created_at` DESC, `id` DESC);
-- create "organizations" table
CREATE TABLE `organizations` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `name` text NOT NULL, `slug` text NOT NULL, PRIMARY KEY (`id`));
-- create index "organizations_slug_key" to table: "organizations"
CREATE UNIQUE INDEX `organizations_slug_key` ON `organizations` (`slug`);
-- create "projects" table
CREATE TABLE `projects` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `name` text NOT NULL, `slug` text NOT NULL, `organization_id` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `projects_organizations_organization` FOREIGN KEY (`organization_id`) REFERENCES `organizations` (`id`) ON DELETE NO ACTION);
-- create index "project_slug" to table: "projects"
CREATE UNIQUE INDEX `project_slug` ON `projects` (`organization_id`, `slug`);
-- create index "project_organization_id_created_at_id" to table: "projects"
CREATE INDEX `project_organization_id_created_at_id` ON `projects` (`organization_id`, `created_at` DESC, `id` DESC);
-- create "releases" table
CREATE TABLE `releases` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `organization_id` text NOT NULL, `digest` text NOT NULL, `content` text NOT NULL, `module_version_id` text NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `releases_module_versions_module_version` FOREIGN KEY (`module_version_id`) REFERENCES `module_versions` (`id`) ON DELETE NO ACTION);
-- create index "release_digest" to table: "releases"
CREATE UNIQUE INDEX `release_digest` ON `releases` (`organization_id`, `digest`);
-- create "tokens" table
CREATE TABLE `tokens` (`id` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `organization_id` text NULL, `name` text NOT NULL, `role` text NOT NULL, `hash` text NOT NULL, `prefix` text NOT NULL, `last_four` text NOT NULL, `expires_at` datetime NULL, `last_used_at` datetime NULL, `revoked_at` datetime NULL, PRIMARY KEY (`id`));
-- create index "tokens_hash_key" to table: "tokens"
CREATE UNIQUE INDEX `tokens_hash_key` ON `tokens` (`hash`);
-- create index "token_organization_id_created_at_id" to table: "tokens"
CREATE INDEX `token_organization_id_created_at_id` ON `tokens` (`organization_id`, `created_at`, `id`);
