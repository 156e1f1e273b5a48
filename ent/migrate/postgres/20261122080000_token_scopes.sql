-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "tokens" ADD COLUMN "scope" json NULL, ADD COLUMN "created_by" character varying NULL;
