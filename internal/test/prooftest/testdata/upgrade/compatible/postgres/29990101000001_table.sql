-- +goose Up
-- compatible-with: 20261122012914
CREATE TABLE "proof_notes" ("id" character varying NOT NULL, "deployment_id" character varying NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "proof_notes_deployments" FOREIGN KEY ("deployment_id") REFERENCES "deployments" ("id"));
CREATE INDEX "proof_note_deployment" ON "proof_notes" ("deployment_id");
