-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "deployments" ALTER COLUMN "proof_seen_at" SET NOT NULL;
ALTER TABLE "deployments" DROP CONSTRAINT "deployments_proof_seen";
