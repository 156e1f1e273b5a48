-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE `lease_sweeps` ADD COLUMN `ended_at` datetime NULL;
