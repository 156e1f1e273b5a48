-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "cloud_event_waiting" ON "cloud_events" ("organization_id", "service_arn", "occurred_at", "id") WHERE (pending_since IS NOT NULL);
RESET lock_timeout;
