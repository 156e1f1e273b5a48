-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "module_instances" ADD COLUMN "external_deployment_id" character varying NULL;
