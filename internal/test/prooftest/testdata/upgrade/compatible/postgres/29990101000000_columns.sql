-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "deployments" ADD COLUMN "proof_note_id" character varying NULL, ADD COLUMN "proof_rank" integer NOT NULL DEFAULT 0, ADD COLUMN "proof_seen_at" timestamptz NULL DEFAULT now();
