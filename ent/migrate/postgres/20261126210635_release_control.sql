-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "token_makers" ON "tokens" ("principal_id", "made_by_id") WHERE (made_by_id IS NOT NULL);
RESET lock_timeout;
