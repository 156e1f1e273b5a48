-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "module_instances" ADD COLUMN "destroyed_at" timestamptz NULL;
