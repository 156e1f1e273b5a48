-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "deployments" ADD COLUMN "created_by_id" character varying NULL, ADD COLUMN "promoted_from" character varying NULL, ADD COLUMN "after_failure_of" character varying NULL, ADD COLUMN "acknowledges_dependents" boolean NOT NULL DEFAULT false, ADD COLUMN "replaces_id" character varying NULL, ADD COLUMN "waits_until" timestamptz NULL, ADD COLUMN "override" json NULL;
