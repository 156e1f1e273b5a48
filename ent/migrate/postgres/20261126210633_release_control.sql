-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "deployment_in_progress" ON "deployments" ("organization_id", "module_instance_id") WHERE ((completed_at IS NULL) AND ((trigger_source)::text <> 'event'::text) AND ((status)::text <> 'AWAITING_APPROVAL'::text));
RESET lock_timeout;
