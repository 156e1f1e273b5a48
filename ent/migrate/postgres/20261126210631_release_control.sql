-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "deployment_awaiting_instance" ON "deployments" ("organization_id", "module_instance_id", "id") WHERE ((status)::text = 'AWAITING_APPROVAL'::text);
RESET lock_timeout;
