-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "deployment_version_newest" ON "deployments" ("organization_id", "module_version_id", "created_at" DESC, "id" DESC);
RESET lock_timeout;
