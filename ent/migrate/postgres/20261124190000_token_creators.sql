-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "tokens" ADD COLUMN "created_by_id" character varying NULL;
