-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "module_versions" ADD COLUMN "deprecated_at" timestamptz NULL, ADD COLUMN "deprecated_by" character varying NULL, ADD COLUMN "deprecation_reason" character varying NULL, ADD COLUMN "successor_id" character varying NULL;
