-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "deployments" VALIDATE CONSTRAINT "deployments_proof_notes", VALIDATE CONSTRAINT "deployments_proof_seen";
