-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "module_definition_status_name" ON "module_definitions" ("organization_id", "status", "name_key", "id");
RESET lock_timeout;
