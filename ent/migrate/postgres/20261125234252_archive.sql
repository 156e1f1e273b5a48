-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "module_instance_name_unarchived" ON "module_instances" ("environment_id", "name") WHERE (archived_at IS NULL);
RESET lock_timeout;
