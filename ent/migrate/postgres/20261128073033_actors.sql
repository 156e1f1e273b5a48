-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "tokens" ADD COLUMN "revoked_by" character varying NULL, ADD COLUMN "revoked_by_actor" character varying NULL;
