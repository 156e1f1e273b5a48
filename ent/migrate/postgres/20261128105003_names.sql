-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "project_name" ON "projects" ("organization_id", "name_key", "id");
RESET lock_timeout;
