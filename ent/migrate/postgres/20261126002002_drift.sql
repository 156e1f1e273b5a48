-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "deployment_succeeded_outside" ON "deployments" ("organization_id", "module_instance_id", "completed_at") WHERE (((status)::text = 'SUCCEEDED'::text) AND ((trigger_source)::text = 'event'::text));
RESET lock_timeout;
