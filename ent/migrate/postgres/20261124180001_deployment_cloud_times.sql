-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "deployments" ADD COLUMN "cloud_started_at" timestamptz NULL, ADD COLUMN "cloud_ended_at" timestamptz NULL;
