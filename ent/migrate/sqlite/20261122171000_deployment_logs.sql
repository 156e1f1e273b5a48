-- +goose Up
-- compatible-with: 20261122012914
-- Each column is added, which leaves the table and the columns that are there as they are.
ALTER TABLE `deployments` ADD COLUMN `log_lines` integer NOT NULL DEFAULT 0;
ALTER TABLE `deployments` ADD COLUMN `log_bytes` integer NOT NULL DEFAULT 0;
ALTER TABLE `deployments` ADD COLUMN `folded_log_lines` integer NOT NULL DEFAULT 0;
ALTER TABLE `deployments` ADD COLUMN `folded_log_bytes` integer NOT NULL DEFAULT 0;
CREATE TABLE `deployment_logs` (`id` integer NOT NULL PRIMARY KEY AUTOINCREMENT, `organization_id` text NOT NULL, `sequence` integer NOT NULL, `byte_offset` integer NOT NULL, `at` datetime NOT NULL, `stream` text NOT NULL, `text` text NOT NULL, `deployment_id` text NOT NULL, CONSTRAINT `deployment_logs_deployments_deployment` FOREIGN KEY (`deployment_id`) REFERENCES `deployments` (`id`) ON DELETE CASCADE);
CREATE UNIQUE INDEX `deploymentlog_deployment_id_sequence` ON `deployment_logs` (`deployment_id`, `sequence`);
