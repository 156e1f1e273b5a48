-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE `module_versions` ADD COLUMN `outputs` text NULL;
CREATE TABLE `deployment_outputs` (`id` integer NOT NULL PRIMARY KEY AUTOINCREMENT, `organization_id` text NOT NULL, `content` text NOT NULL, `deployment_id` text NOT NULL, CONSTRAINT `deployment_outputs_deployments_deployment` FOREIGN KEY (`deployment_id`) REFERENCES `deployments` (`id`) ON DELETE CASCADE);
CREATE UNIQUE INDEX `deploymentoutput_deployment_id` ON `deployment_outputs` (`deployment_id`);
