-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "deployment_pipeline_newest" ON "deployments" ("organization_id", "pipeline_run_id", "created_at" DESC, "id" DESC) WHERE (pipeline_run_id IS NOT NULL);
RESET lock_timeout;
