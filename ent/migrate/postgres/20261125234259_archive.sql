-- +goose Up
-- compatible-with: 20261122012914
DROP INDEX "project_slug";
