-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "deployments" ADD COLUMN "live_since" timestamptz NULL;
