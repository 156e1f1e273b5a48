-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "deployment_awaiting_until" ON "deployments" ("waits_until", "id") WHERE ((status)::text = 'AWAITING_APPROVAL'::text);
RESET lock_timeout;
