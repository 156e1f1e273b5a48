-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "deployment_pending" ON "deployments" ("organization_id", "created_at", "id") WHERE ((status)::text = 'PENDING'::text);
CREATE INDEX CONCURRENTLY IF NOT EXISTS "deployment_type_status_newest" ON "deployments" ("organization_id", "deployment_type", "status", "created_at" DESC, "id" DESC);
CREATE INDEX CONCURRENTLY IF NOT EXISTS "module_version_uses_unrecorded" ON "module_versions" ("organization_id", "id") WHERE (NOT uses_recorded);
RESET lock_timeout;
