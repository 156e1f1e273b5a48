-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE `projects` ADD COLUMN `name_key` text NOT NULL DEFAULT '';
ALTER TABLE `environments` ADD COLUMN `name_key` text NOT NULL DEFAULT '';
ALTER TABLE `module_instances` ADD COLUMN `name_key` text NOT NULL DEFAULT '';
ALTER TABLE `module_definitions` ADD COLUMN `name_key` text NOT NULL DEFAULT '';
ALTER TABLE `organizations` ADD COLUMN `search_text` text NOT NULL DEFAULT '';
ALTER TABLE `tokens` ADD COLUMN `search_text` text NOT NULL DEFAULT '';
ALTER TABLE `default_value_definitions` ADD COLUMN `search_text` text NOT NULL DEFAULT '';
ALTER TABLE `projects` ADD COLUMN `search_text` text NOT NULL DEFAULT '';
ALTER TABLE `environments` ADD COLUMN `search_text` text NOT NULL DEFAULT '';
ALTER TABLE `module_instances` ADD COLUMN `search_text` text NOT NULL DEFAULT '';
-- Names of other letters are folded by the server, because the databases fold these in ways of their own.
UPDATE `organizations` SET `search_text` = lower(`name` || char(10) || `slug`)
WHERE length(CAST(`name` AS BLOB)) = length(`name`);
UPDATE `tokens` SET `search_text` = lower(`name`)
WHERE length(CAST(`name` AS BLOB)) = length(`name`);
UPDATE `default_value_definitions` SET `search_text` = lower(`name` || char(10) || `given_id`)
WHERE length(CAST(`name` AS BLOB)) = length(`name`);
UPDATE `projects` SET `name_key` = lower(hex(lower(`name`))), `search_text` = lower(`name` || char(10) || `slug`)
WHERE length(CAST(`name` AS BLOB)) = length(`name`);
UPDATE `environments` SET `name_key` = lower(hex(lower(`name`))), `search_text` = lower(`name` || char(10) || `slug`)
WHERE length(CAST(`name` AS BLOB)) = length(`name`);
UPDATE `module_instances` SET `name_key` = lower(hex(lower(`name`))), `search_text` = lower(`name`)
WHERE length(CAST(`name` AS BLOB)) = length(`name`);
UPDATE `module_definitions` SET `name_key` = lower(hex(lower(`name`))) WHERE length(CAST(`name` AS BLOB)) = length(`name`);
CREATE INDEX `default_value_definition_unfilled` ON `default_value_definitions` (`id`) WHERE search_text = '';
CREATE INDEX `environment_name` ON `environments` (`organization_id`, `name_key`, `id`);
CREATE INDEX `environment_project_name` ON `environments` (`organization_id`, `project_id`, `name_key`, `id`);
CREATE INDEX `environment_unfilled` ON `environments` (`id`) WHERE search_text = '';
CREATE INDEX `module_definition_name` ON `module_definitions` (`organization_id`, `name_key`, `id`);
CREATE INDEX `module_definition_status_name` ON `module_definitions` (`organization_id`, `status`, `name_key`, `id`);
CREATE INDEX `module_definition_global_name` ON `module_definitions` (`name_key`, `id`) WHERE organization_id IS NULL;
CREATE INDEX `module_definition_unfilled` ON `module_definitions` (`id`) WHERE name_key = '';
CREATE INDEX `module_instance_name` ON `module_instances` (`organization_id`, `name_key`, `id`);
CREATE INDEX `module_instance_project_name` ON `module_instances` (`organization_id`, `project_id`, `name_key`, `id`);
CREATE INDEX `module_instance_environment_name` ON `module_instances` (`organization_id`, `environment_id`, `name_key`, `id`);
CREATE INDEX `module_instance_definition_name` ON `module_instances` (`organization_id`, `module_definition_id`, `name_key`, `id`);
CREATE INDEX `module_instance_unfilled` ON `module_instances` (`id`) WHERE search_text = '';
CREATE INDEX `organization_unfilled` ON `organizations` (`id`) WHERE search_text = '';
CREATE INDEX `project_name` ON `projects` (`organization_id`, `name_key`, `id`);
CREATE INDEX `project_unfilled` ON `projects` (`id`) WHERE search_text = '';
CREATE INDEX `token_unfilled` ON `tokens` (`id`) WHERE search_text = '';
