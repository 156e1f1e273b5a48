-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE `environments` ADD COLUMN `archived_at` datetime NULL;
ALTER TABLE `environments` ADD COLUMN `archived_with` text NULL;
DROP INDEX `environment_slug`;
CREATE UNIQUE INDEX `environment_slug_unarchived` ON `environments` (`project_id`, `slug`) WHERE archived_at IS NULL;
CREATE INDEX `environment_archived_newest` ON `environments` (`organization_id`, `created_at` DESC, `id` DESC) WHERE archived_at IS NOT NULL;
ALTER TABLE `module_instances` ADD COLUMN `archived_at` datetime NULL;
ALTER TABLE `module_instances` ADD COLUMN `archived_with` text NULL;
DROP INDEX `module_instance_name`;
CREATE UNIQUE INDEX `module_instance_name_unarchived` ON `module_instances` (`environment_id`, `name`) WHERE archived_at IS NULL;
CREATE INDEX `module_instance_archived_newest` ON `module_instances` (`organization_id`, `created_at` DESC, `id` DESC) WHERE archived_at IS NOT NULL;
ALTER TABLE `projects` ADD COLUMN `archived_at` datetime NULL;
ALTER TABLE `projects` ADD COLUMN `archived_with` text NULL;
DROP INDEX `project_slug`;
CREATE UNIQUE INDEX `project_slug_unarchived` ON `projects` (`organization_id`, `slug`) WHERE archived_at IS NULL;
CREATE INDEX `project_archived_newest` ON `projects` (`organization_id`, `created_at` DESC, `id` DESC) WHERE archived_at IS NOT NULL;
