-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "module_versions" ADD COLUMN "deprecated_by_actor" character varying NULL;
