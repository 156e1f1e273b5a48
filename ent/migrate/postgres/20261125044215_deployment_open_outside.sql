-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "deployment_open_outside" ON "deployments" ("organization_id", "module_instance_id", "service_arn", "cloud_started_at") WHERE ((completed_at IS NULL) AND ((trigger_source)::text = 'event'::text));
RESET lock_timeout;
