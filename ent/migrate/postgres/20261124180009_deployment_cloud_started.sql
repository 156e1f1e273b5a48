-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "deployment_cloud_started" ON "deployments" ("organization_id", "module_instance_id", "service_arn", "cloud_started_at", "external_deployment_id", "id") WHERE (cloud_started_at IS NOT NULL);
RESET lock_timeout;
