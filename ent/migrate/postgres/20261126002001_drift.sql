-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "module_instances" ADD COLUMN "drift_kind" character varying NULL, ADD COLUMN "drift_since" timestamptz NULL, ADD COLUMN "drift_message" character varying NULL, ADD COLUMN "drift_deployment_id" character varying NULL;
