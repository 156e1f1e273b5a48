-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "cloud_events" ADD COLUMN "subject" character varying NULL;
