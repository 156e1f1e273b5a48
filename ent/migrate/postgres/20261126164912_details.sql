-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "deployments" ADD COLUMN "details_folded_at" timestamptz NULL;
-- No server has purged yet.
INSERT INTO "lease_sweeps" ("id", "worked_at", "resumed_at") VALUES ('purge', '1970-01-01 00:00:00+00', '1970-01-01 00:00:00+00');
