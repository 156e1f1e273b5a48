-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "deployment_environment_completed" ON "deployments" ("organization_id", "environment_id", "status", "completed_at" DESC, "id" DESC) WHERE (completed_at IS NOT NULL);
RESET lock_timeout;
