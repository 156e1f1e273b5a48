-- +goose NO TRANSACTION
-- +goose Up
-- The first four came with the leases; a database that got them then keeps them.
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "auditevent_organization_id_action_created_at_id" ON "audit_events" ("organization_id", "action", "created_at" DESC, "id" DESC);
CREATE INDEX CONCURRENTLY IF NOT EXISTS "auditevent_organization_id_actor_id_created_at_id" ON "audit_events" ("organization_id", "actor_id", "created_at" DESC, "id" DESC);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "deployment_lease" ON "deployments" ("organization_id", "lease_id");
CREATE INDEX CONCURRENTLY IF NOT EXISTS "deployment_lease_expires_at" ON "deployments" ("lease_expires_at") WHERE (lease_expires_at IS NOT NULL);
CREATE INDEX CONCURRENTLY IF NOT EXISTS "deployment_environment_status_newest" ON "deployments" ("organization_id", "environment_id", "status", "created_at" DESC, "id" DESC);
CREATE INDEX CONCURRENTLY IF NOT EXISTS "deployment_instance_status_newest" ON "deployments" ("organization_id", "module_instance_id", "status", "created_at" DESC, "id" DESC);
CREATE INDEX CONCURRENTLY IF NOT EXISTS "deployment_project_status_newest" ON "deployments" ("organization_id", "project_id", "status", "created_at" DESC, "id" DESC);
CREATE INDEX CONCURRENTLY IF NOT EXISTS "module_definition_global_newest" ON "module_definitions" ("created_at" DESC, "id" DESC) WHERE (organization_id IS NULL);
CREATE INDEX CONCURRENTLY IF NOT EXISTS "moduleinstance_organization_id_project_id_created_at_id" ON "module_instances" ("organization_id", "project_id", "created_at" DESC, "id" DESC);
RESET lock_timeout;
