-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "module_instance_live" ON "module_instances" ("organization_id", "live_deployment_id") WHERE (live_deployment_id IS NOT NULL);
RESET lock_timeout;
