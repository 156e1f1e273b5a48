-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "quarantines" ADD COLUMN "created_by_actor" character varying NULL, ADD COLUMN "lifted_by_actor" character varying NULL;
