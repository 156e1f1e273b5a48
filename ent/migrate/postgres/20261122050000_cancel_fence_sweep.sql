-- +goose Up
-- compatible-with: 20261122012914
-- modify "deployments" table
ALTER TABLE "deployments" ADD COLUMN "fence" bigint NULL, ADD COLUMN "cancel_requested_at" timestamptz NULL, ADD COLUMN "cancel_requested_by" character varying NULL, ADD COLUMN "forced" boolean NOT NULL DEFAULT false;
-- modify "module_instances" table
ALTER TABLE "module_instances" ADD COLUMN "fence" bigint NOT NULL DEFAULT 0, ADD COLUMN "forced_deployment_id" character varying NULL;
-- create "lease_sweeps" table
CREATE TABLE "lease_sweeps" ("id" character varying NOT NULL, "worked_at" timestamptz NOT NULL, "resumed_at" timestamptz NOT NULL, PRIMARY KEY ("id"));
-- No round was carried out yet.
INSERT INTO "lease_sweeps" ("id", "worked_at", "resumed_at") VALUES ('leases', '1970-01-01 00:00:00+00', '1970-01-01 00:00:00+00');
