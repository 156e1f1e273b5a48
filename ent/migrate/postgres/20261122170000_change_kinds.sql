-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "deployment_changes" ADD COLUMN "kind" character varying NULL;
