-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "rules" ADD COLUMN "created_by_actor" character varying NULL, ADD COLUMN "ended_by" character varying NULL, ADD COLUMN "ended_by_actor" character varying NULL;
