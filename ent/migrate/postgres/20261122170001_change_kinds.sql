-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "deploymentchange_organization_id_xid_id" ON "deployment_changes" ("organization_id", "xid", "id");
RESET lock_timeout;
