-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "deployment_organization_id_trigger_source_created_at_id" ON "deployments" ("organization_id", "trigger_source", "created_at" DESC, "id" DESC);
RESET lock_timeout;
