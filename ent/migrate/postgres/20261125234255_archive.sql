-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "module_instance_archived_newest" ON "module_instances" ("organization_id", "created_at" DESC, "id" DESC) WHERE (archived_at IS NOT NULL);
RESET lock_timeout;
