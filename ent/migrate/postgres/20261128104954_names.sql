-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "module_definition_global_name" ON "module_definitions" ("name_key", "id") WHERE (organization_id IS NULL);
RESET lock_timeout;
