-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "cloud_event_deployment" ON "cloud_events" ("organization_id", "deployment_id", "occurred_at", "id") WHERE (deployment_id IS NOT NULL);
RESET lock_timeout;
