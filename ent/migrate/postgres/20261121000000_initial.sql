-- +goose Up
-- create "audit_events" table
CREATE TABLE "audit_events" ("id" character varying NOT NULL, "organization_id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "actor_id" character varying NOT NULL, "actor_name" character varying NOT NULL, "actor_role" character varying NOT NULL, "channel" character varying NOT NULL, "action" character varying NOT NULL, "object_id" character varying NOT NULL, "request_id" character varying NOT NULL, "changes" json NULL, PRIMARY KEY ("id"));
-- create index "auditevent_organization_id_created_at_id" to table: "audit_events"
CREATE INDEX "auditevent_organization_id_created_at_id" ON "audit_events" ("organization_id", "created_at" DESC, "id" DESC);
-- create index "auditevent_organization_id_object_id_created_at_id" to table: "audit_events"
CREATE INDEX "auditevent_organization_id_object_id_created_at_id" ON "audit_events" ("organization_id", "object_id", "created_at" DESC, "id" DESC);
-- create "default_value_definitions" table
CREATE TABLE "default_value_definitions" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "given_id" character varying NOT NULL, "name" character varying NOT NULL, "description" character varying NULL, "schema" json NOT NULL, "created_by_type" character varying NOT NULL DEFAULT 'USER', "version" integer NOT NULL DEFAULT 1, "organization_id" character varying NOT NULL, PRIMARY KEY ("id"));
-- create index "default_value_definition_given_id" to table: "default_value_definitions"
CREATE UNIQUE INDEX "default_value_definition_given_id" ON "default_value_definitions" ("organization_id", "given_id");
-- create index "defaultvaluedefinition_organization_id_created_at_id" to table: "default_value_definitions"
CREATE INDEX "defaultvaluedefinition_organization_id_created_at_id" ON "default_value_definitions" ("organization_id", "created_at" DESC, "id" DESC);
-- create "deployments" table
CREATE TABLE "deployments" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "organization_id" character varying NOT NULL, "deployment_type" character varying NOT NULL, "trigger_source" character varying NOT NULL, "status" character varying NOT NULL DEFAULT 'PENDING', "description" character varying NULL, "started_at" timestamptz NULL, "completed_at" timestamptz NULL, "error" json NULL, "external_deployment_id" character varying NULL, "pipeline_run_id" character varying NULL, "step_execution_id" character varying NULL, "resource_arn" character varying NULL, "resource_name" character varying NULL, "data" json NULL, "created_by" character varying NOT NULL, "version" integer NOT NULL DEFAULT 1, "project_id" character varying NOT NULL, "environment_id" character varying NOT NULL, "module_instance_id" character varying NOT NULL, "release_id" character varying NULL, "redeploy_of_deployment_id" character varying NULL, "rollback_to_deployment_id" character varying NULL, PRIMARY KEY ("id"), CONSTRAINT "deployments_deployments_redeploys" FOREIGN KEY ("redeploy_of_deployment_id") REFERENCES "deployments" ("id") ON UPDATE NO ACTION ON DELETE SET NULL, CONSTRAINT "deployments_deployments_rollbacks" FOREIGN KEY ("rollback_to_deployment_id") REFERENCES "deployments" ("id") ON UPDATE NO ACTION ON DELETE SET NULL);
-- create index "deployment_one_active" to table: "deployments"
CREATE UNIQUE INDEX "deployment_one_active" ON "deployments" ("module_instance_id") WHERE (completed_at IS NULL);
-- create index "deployment_organization_id_created_at_id" to table: "deployments"
CREATE INDEX "deployment_organization_id_created_at_id" ON "deployments" ("organization_id", "created_at" DESC, "id" DESC);
-- create index "deployment_organization_id_deployment_type_created_at_id" to table: "deployments"
CREATE INDEX "deployment_organization_id_deployment_type_created_at_id" ON "deployments" ("organization_id", "deployment_type", "created_at" DESC, "id" DESC);
-- create index "deployment_organization_id_environment_id_created_at_id" to table: "deployments"
CREATE INDEX "deployment_organization_id_environment_id_created_at_id" ON "deployments" ("organization_id", "environment_id", "created_at" DESC, "id" DESC);
-- create index "deployment_organization_id_module_instance_id_created_at_id" to table: "deployments"
CREATE INDEX "deployment_organization_id_module_instance_id_created_at_id" ON "deployments" ("organization_id", "module_instance_id", "created_at" DESC, "id" DESC);
-- create index "deployment_organization_id_project_id_created_at_id" to table: "deployments"
CREATE INDEX "deployment_organization_id_project_id_created_at_id" ON "deployments" ("organization_id", "project_id", "created_at" DESC, "id" DESC);
-- create index "deployment_organization_id_release_id_created_at_id" to table: "deployments"
CREATE INDEX "deployment_organization_id_release_id_created_at_id" ON "deployments" ("organization_id", "release_id", "created_at" DESC, "id" DESC);
-- create index "deployment_organization_id_status_created_at_id" to table: "deployments"
CREATE INDEX "deployment_organization_id_status_created_at_id" ON "deployments" ("organization_id", "status", "created_at" DESC, "id" DESC);
-- create "environments" table
CREATE TABLE "environments" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "organization_id" character varying NOT NULL, "name" character varying NOT NULL, "slug" character varying NOT NULL, "project_id" character varying NOT NULL, PRIMARY KEY ("id"));
-- create index "environment_organization_id_created_at_id" to table: "environments"
CREATE INDEX "environment_organization_id_created_at_id" ON "environments" ("organization_id", "created_at" DESC, "id" DESC);
-- create index "environment_organization_id_project_id_created_at_id" to table: "environments"
CREATE INDEX "environment_organization_id_project_id_created_at_id" ON "environments" ("organization_id", "project_id", "created_at" DESC, "id" DESC);
-- create index "environment_slug" to table: "environments"
CREATE UNIQUE INDEX "environment_slug" ON "environments" ("project_id", "slug");
-- create "module_definitions" table
CREATE TABLE "module_definitions" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "organization_id" character varying NULL, "name" character varying NOT NULL, "description" character varying NULL, "type" character varying NOT NULL, "search_text" character varying NOT NULL, "status" character varying NOT NULL, "latest_version" character varying NULL, "latest_version_id" character varying NULL, PRIMARY KEY ("id"));
-- create index "module_definition_global_type" to table: "module_definitions"
CREATE UNIQUE INDEX "module_definition_global_type" ON "module_definitions" ("type") WHERE (organization_id IS NULL);
-- create index "module_definition_type" to table: "module_definitions"
CREATE UNIQUE INDEX "module_definition_type" ON "module_definitions" ("organization_id", "type");
-- create index "moduledefinition_organization_id_created_at_id" to table: "module_definitions"
CREATE INDEX "moduledefinition_organization_id_created_at_id" ON "module_definitions" ("organization_id", "created_at" DESC, "id" DESC);
-- create index "moduledefinition_organization_id_status_created_at_id" to table: "module_definitions"
CREATE INDEX "moduledefinition_organization_id_status_created_at_id" ON "module_definitions" ("organization_id", "status", "created_at" DESC, "id" DESC);
-- create "module_instances" table
CREATE TABLE "module_instances" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "organization_id" character varying NOT NULL, "name" character varying NOT NULL, "project_id" character varying NOT NULL, "environment_id" character varying NOT NULL, "module_definition_id" character varying NOT NULL, "live_deployment_id" character varying NULL, PRIMARY KEY ("id"));
-- create index "module_instance_name" to table: "module_instances"
CREATE UNIQUE INDEX "module_instance_name" ON "module_instances" ("environment_id", "name");
-- create index "moduleinstance_definition_newest" to table: "module_instances"
CREATE INDEX "moduleinstance_definition_newest" ON "module_instances" ("organization_id", "module_definition_id", "created_at" DESC, "id" DESC);
-- create index "moduleinstance_organization_id_created_at_id" to table: "module_instances"
CREATE INDEX "moduleinstance_organization_id_created_at_id" ON "module_instances" ("organization_id", "created_at" DESC, "id" DESC);
-- create index "moduleinstance_organization_id_environment_id_created_at_id" to table: "module_instances"
CREATE INDEX "moduleinstance_organization_id_environment_id_created_at_id" ON "module_instances" ("organization_id", "environment_id", "created_at" DESC, "id" DESC);
-- create "module_versions" table
CREATE TABLE "module_versions" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "organization_id" character varying NULL, "version" character varying NOT NULL, "kind" character varying NOT NULL, "inputs" json NOT NULL, "source_url" character varying NULL, "source_ref" character varying NULL, "module_definition_id" character varying NOT NULL, PRIMARY KEY ("id"));
-- create index "module_version_version" to table: "module_versions"
CREATE UNIQUE INDEX "module_version_version" ON "module_versions" ("module_definition_id", "version");
-- create index "moduleversion_module_definition_id_created_at_id" to table: "module_versions"
CREATE INDEX "moduleversion_module_definition_id_created_at_id" ON "module_versions" ("module_definition_id", "created_at" DESC, "id" DESC);
-- create "organizations" table
CREATE TABLE "organizations" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "name" character varying NOT NULL, "slug" character varying NOT NULL, PRIMARY KEY ("id"));
-- create index "organizations_slug_key" to table: "organizations"
CREATE UNIQUE INDEX "organizations_slug_key" ON "organizations" ("slug");
-- create "projects" table
CREATE TABLE "projects" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "name" character varying NOT NULL, "slug" character varying NOT NULL, "organization_id" character varying NOT NULL, PRIMARY KEY ("id"));
-- create index "project_organization_id_created_at_id" to table: "projects"
CREATE INDEX "project_organization_id_created_at_id" ON "projects" ("organization_id", "created_at" DESC, "id" DESC);
-- create index "project_slug" to table: "projects"
CREATE UNIQUE INDEX "project_slug" ON "projects" ("organization_id", "slug");
-- create "releases" table
CREATE TABLE "releases" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "organization_id" character varying NOT NULL, "digest" character varying NOT NULL, "content" character varying NOT NULL, "module_version_id" character varying NOT NULL, PRIMARY KEY ("id"));
-- create index "release_digest" to table: "releases"
CREATE UNIQUE INDEX "release_digest" ON "releases" ("organization_id", "digest");
-- create "tokens" table
CREATE TABLE "tokens" ("id" character varying NOT NULL, "created_at" timestamptz NOT NULL, "updated_at" timestamptz NOT NULL, "organization_id" character varying NULL, "name" character varying NOT NULL, "role" character varying NOT NULL, "hash" character varying NOT NULL, "prefix" character varying NOT NULL, "last_four" character varying NOT NULL, "expires_at" timestamptz NULL, "last_used_at" timestamptz NULL, "revoked_at" timestamptz NULL, PRIMARY KEY ("id"));
-- create index "token_organization_id_created_at_id" to table: "tokens"
CREATE INDEX "token_organization_id_created_at_id" ON "tokens" ("organization_id", "created_at", "id");
-- create index "tokens_hash_key" to table: "tokens"
CREATE UNIQUE INDEX "tokens_hash_key" ON "tokens" ("hash");
-- modify "default_value_definitions" table
ALTER TABLE "default_value_definitions" ADD CONSTRAINT "default_value_definitions_organizations_organization" FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION;
-- modify "deployments" table
ALTER TABLE "deployments" ADD CONSTRAINT "deployments_environments_environment" FOREIGN KEY ("environment_id") REFERENCES "environments" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, ADD CONSTRAINT "deployments_module_instances_module_instance" FOREIGN KEY ("module_instance_id") REFERENCES "module_instances" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, ADD CONSTRAINT "deployments_projects_project" FOREIGN KEY ("project_id") REFERENCES "projects" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, ADD CONSTRAINT "deployments_releases_release" FOREIGN KEY ("release_id") REFERENCES "releases" ("id") ON UPDATE NO ACTION ON DELETE SET NULL;
-- modify "environments" table
ALTER TABLE "environments" ADD CONSTRAINT "environments_projects_project" FOREIGN KEY ("project_id") REFERENCES "projects" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION;
-- modify "module_instances" table
ALTER TABLE "module_instances" ADD CONSTRAINT "module_instances_deployments_live_deployment" FOREIGN KEY ("live_deployment_id") REFERENCES "deployments" ("id") ON UPDATE NO ACTION ON DELETE SET NULL, ADD CONSTRAINT "module_instances_environments_environment" FOREIGN KEY ("environment_id") REFERENCES "environments" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, ADD CONSTRAINT "module_instances_module_definitions_module_definition" FOREIGN KEY ("module_definition_id") REFERENCES "module_definitions" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION, ADD CONSTRAINT "module_instances_projects_project" FOREIGN KEY ("project_id") REFERENCES "projects" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION;
-- modify "module_versions" table
ALTER TABLE "module_versions" ADD CONSTRAINT "module_versions_module_definitions_module_definition" FOREIGN KEY ("module_definition_id") REFERENCES "module_definitions" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION;
-- modify "projects" table
ALTER TABLE "projects" ADD CONSTRAINT "projects_organizations_organization" FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION;
-- modify "releases" table
ALTER TABLE "releases" ADD CONSTRAINT "releases_module_versions_module_version" FOREIGN KEY ("module_version_id") REFERENCES "module_versions" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION;
