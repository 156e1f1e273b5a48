-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "cloud_events" ADD COLUMN "created_by_actor" character varying NULL;
