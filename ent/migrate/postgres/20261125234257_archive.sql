-- +goose Up
-- compatible-with: 20261122012914
DROP INDEX "environment_slug";
