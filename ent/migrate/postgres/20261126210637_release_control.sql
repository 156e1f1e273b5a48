-- +goose Up
-- compatible-with: 20261122012914
-- deployment_in_progress is in its place.
DROP INDEX "deployment_active_instance";
