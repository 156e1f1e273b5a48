-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "environment_project_name" ON "environments" ("organization_id", "project_id", "name_key", "id");
RESET lock_timeout;
