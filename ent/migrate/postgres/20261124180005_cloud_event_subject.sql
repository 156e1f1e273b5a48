-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "cloud_event_subject" ON "cloud_events" ("organization_id", "service_arn", "subject") WHERE (subject IS NOT NULL);
RESET lock_timeout;
