-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS "deployment_proof_rank" ON "deployments" ("organization_id", "proof_rank", "created_at" DESC, "id" DESC);
RESET lock_timeout;
