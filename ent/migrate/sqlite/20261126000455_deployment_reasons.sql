-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE `module_versions` ADD COLUMN `deprecated_at` datetime NULL;
ALTER TABLE `module_versions` ADD COLUMN `deprecated_by` text NULL;
ALTER TABLE `module_versions` ADD COLUMN `deprecation_reason` text NULL;
ALTER TABLE `module_versions` ADD COLUMN `successor_id` text NULL;
ALTER TABLE `deployments` ADD COLUMN `reason` text NULL;
ALTER TABLE `deployments` ADD COLUMN `cancel_reason` text NULL;
