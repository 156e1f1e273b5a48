-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "deployment_after_failure" ON "deployments" ("organization_id", "after_failure_of") WHERE (after_failure_of IS NOT NULL);
RESET lock_timeout;
