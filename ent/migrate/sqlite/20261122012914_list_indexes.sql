-- +goose Up
-- create index "module_definition_global_newest" to table: "module_definitions"
CREATE INDEX `module_definition_global_newest` ON `module_definitions` (`created_at` DESC, `id` DESC) WHERE organization_id IS NULL;
-- create index "moduleinstance_organization_id_project_id_created_at_id" to table: "module_instances"
CREATE INDEX `moduleinstance_organization_id_project_id_created_at_id` ON `module_instances` (`organization_id`, `project_id`, `created_at` DESC, `id` DESC);
-- create index "deployment_project_status_newest" to table: "deployments"
CREATE INDEX `deployment_project_status_newest` ON `deployments` (`organization_id`, `project_id`, `status`, `created_at` DESC, `id` DESC);
-- create index "deployment_environment_status_newest" to table: "deployments"
CREATE INDEX `deployment_environment_status_newest` ON `deployments` (`organization_id`, `environment_id`, `status`, `created_at` DESC, `id` DESC);
-- create index "deployment_instance_status_newest" to table: "deployments"
CREATE INDEX `deployment_instance_status_newest` ON `deployments` (`organization_id`, `module_instance_id`, `status`, `created_at` DESC, `id` DESC);
