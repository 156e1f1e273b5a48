-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "deployment_trigger_status_newest" ON "deployments" ("organization_id", "trigger_source", "status", "created_at" DESC, "id" DESC);
RESET lock_timeout;
