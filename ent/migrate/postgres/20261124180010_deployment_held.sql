-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "deployment_held" ON "deployments" ("organization_id", "module_instance_id", "service_arn", "started_at", "id") WHERE ((lease_id IS NOT NULL) AND ((deployment_type)::text = 'aws:ecs'::text));
RESET lock_timeout;
