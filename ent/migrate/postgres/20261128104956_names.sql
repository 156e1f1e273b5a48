-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "module_definition_unfilled" ON "module_definitions" ("id") WHERE ((name_key)::text = ''::text);
RESET lock_timeout;
