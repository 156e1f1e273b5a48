-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "deployments" ADD COLUMN "created_by_actor" character varying NULL, ADD COLUMN "runner_actor" character varying NULL, ADD COLUMN "cancel_requested_by_actor" character varying NULL;
