-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "module_instances" ADD COLUMN "own_inputs" json NULL, ADD COLUMN "on_failure" character varying NOT NULL DEFAULT 'NOTHING';
