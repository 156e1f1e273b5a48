-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "module_versions" ADD COLUMN "source_path" character varying NULL;
