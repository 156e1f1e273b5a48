-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "deployment_details" ON "deployments" ("completed_at", "id") WHERE ((completed_at IS NOT NULL) AND (details_folded_at IS NULL));
RESET lock_timeout;
