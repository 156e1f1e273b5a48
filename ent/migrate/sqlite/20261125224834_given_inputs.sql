-- +goose Up
-- compatible-with: 20261122012914
CREATE INDEX `module_instance_live` ON `module_instances` (`organization_id`, `live_deployment_id`) WHERE live_deployment_id IS NOT NULL;
ALTER TABLE `deployments` ADD COLUMN `given_from` text NULL;
CREATE TABLE `deployment_references` (`id` integer NOT NULL PRIMARY KEY AUTOINCREMENT, `organization_id` text NOT NULL, `sequence` integer NOT NULL, `referrer_id` text NOT NULL, `pointer` text NOT NULL, `module_instance_id` text NOT NULL, `read_deployment_id` text NULL, `paths` text NULL, `digest` text NULL, `deployment_id` text NOT NULL, CONSTRAINT `deployment_references_deployments_deployment` FOREIGN KEY (`deployment_id`) REFERENCES `deployments` (`id`) ON DELETE CASCADE);
CREATE UNIQUE INDEX `deploymentreference_deployment_id_sequence` ON `deployment_references` (`deployment_id`, `sequence`);
CREATE INDEX `deployment_reference_chosen` ON `deployment_references` (`organization_id`, `module_instance_id`, `referrer_id`, `deployment_id`);
CREATE TABLE `given_inputs` (`id` integer NOT NULL PRIMARY KEY AUTOINCREMENT, `organization_id` text NOT NULL, `content` text NOT NULL, `deployment_id` text NOT NULL, CONSTRAINT `given_inputs_deployments_deployment` FOREIGN KEY (`deployment_id`) REFERENCES `deployments` (`id`) ON DELETE CASCADE);
CREATE UNIQUE INDEX `giveninput_deployment_id` ON `given_inputs` (`deployment_id`);
