-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "module_instance_unfilled" ON "module_instances" ("id") WHERE ((search_text)::text = ''::text);
RESET lock_timeout;
