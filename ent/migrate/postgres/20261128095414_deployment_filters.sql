-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "deployment_unfilled" ON "deployments" ("id") WHERE (module_definition_id IS NULL);
RESET lock_timeout;
