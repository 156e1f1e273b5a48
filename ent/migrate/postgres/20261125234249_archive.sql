-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "module_instances" ADD COLUMN "archived_at" timestamptz NULL, ADD COLUMN "archived_with" character varying NULL;
