-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "deployments" ADD COLUMN "log_lines" bigint NOT NULL DEFAULT 0, ADD COLUMN "log_bytes" bigint NOT NULL DEFAULT 0, ADD COLUMN "folded_log_lines" integer NOT NULL DEFAULT 0, ADD COLUMN "folded_log_bytes" bigint NOT NULL DEFAULT 0;
