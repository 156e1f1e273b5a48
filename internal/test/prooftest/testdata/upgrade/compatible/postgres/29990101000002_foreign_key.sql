-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "deployments" ADD CONSTRAINT "deployments_proof_notes" FOREIGN KEY ("proof_note_id") REFERENCES "proof_notes" ("id") NOT VALID, ADD CONSTRAINT "deployments_proof_seen" CHECK ("proof_seen_at" IS NOT NULL) NOT VALID;
