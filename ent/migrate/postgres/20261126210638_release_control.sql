-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "token_made" ON "tokens" ("made_by_id", "principal_id") WHERE (made_by_id IS NOT NULL);
RESET lock_timeout;
