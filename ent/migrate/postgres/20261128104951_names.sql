-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "environment_name" ON "environments" ("organization_id", "name_key", "id");
RESET lock_timeout;
