-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "default_value_definition_unfilled" ON "default_value_definitions" ("id") WHERE ((search_text)::text = ''::text);
RESET lock_timeout;
