-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20261122012914
SET lock_timeout = 0;
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "deployment_proof_note" ON "deployments" ("proof_note_id", "id");
RESET lock_timeout;
