-- +goose Up
-- compatible-with: 20261122012914
-- deployment_active is in its place.
DROP INDEX "deployment_one_active";
