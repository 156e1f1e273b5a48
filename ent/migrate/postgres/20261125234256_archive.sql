-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "project_archived_newest" ON "projects" ("organization_id", "created_at" DESC, "id" DESC) WHERE (archived_at IS NOT NULL);
RESET lock_timeout;
