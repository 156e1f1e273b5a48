-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "environment_slug_unarchived" ON "environments" ("project_id", "slug") WHERE (archived_at IS NULL);
RESET lock_timeout;
