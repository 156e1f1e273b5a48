-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "deployments" ADD COLUMN "reason" character varying NULL, ADD COLUMN "cancel_reason" character varying NULL;
