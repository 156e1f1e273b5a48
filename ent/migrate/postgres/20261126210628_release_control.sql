-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "tokens" ADD COLUMN "holder" character varying NULL, ADD COLUMN "principal_id" character varying NULL, ADD COLUMN "made_by_id" character varying NULL;
