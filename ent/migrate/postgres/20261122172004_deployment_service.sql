-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "deployment_service_newest" ON "deployments" ("organization_id", "service_arn", "created_at" DESC, "id" DESC) WHERE (service_arn IS NOT NULL);
RESET lock_timeout;
