-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "deployments" ADD COLUMN "module_definition_id" character varying NULL, ADD COLUMN "module_version_id" character varying NULL, ADD COLUMN "search_text" character varying NULL;
