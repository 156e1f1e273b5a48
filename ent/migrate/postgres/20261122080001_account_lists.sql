-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "organization_created_at_id" ON "organizations" ("created_at" DESC, "id" DESC);
CREATE INDEX CONCURRENTLY IF NOT EXISTS "token_superadmin_newest" ON "tokens" ("created_at" DESC, "id" DESC) WHERE (organization_id IS NULL);
RESET lock_timeout;
