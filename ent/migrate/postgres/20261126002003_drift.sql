-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "moduleinstance_drift_newest" ON "module_instances" ("organization_id", "drift_kind", "created_at" DESC, "id" DESC) WHERE (drift_kind IS NOT NULL);
RESET lock_timeout;
