-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "deployment_cloud_id" ON "deployments" ("organization_id", "external_deployment_id", "service_arn") WHERE (external_deployment_id IS NOT NULL);
RESET lock_timeout;
