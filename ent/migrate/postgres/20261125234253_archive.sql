-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "project_slug_unarchived" ON "projects" ("organization_id", "slug") WHERE (archived_at IS NULL);
RESET lock_timeout;
