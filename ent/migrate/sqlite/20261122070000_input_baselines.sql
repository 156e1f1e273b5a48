-- +goose Up
-- compatible-with: 20261122012914
-- create "input_baselines" table
CREATE TABLE `input_baselines` (`id` integer NOT NULL PRIMARY KEY AUTOINCREMENT, `organization_id` text NOT NULL, `content` text NOT NULL, `updated_at` datetime NOT NULL, `module_instance_id` text NOT NULL, `deployment_id` text NOT NULL, CONSTRAINT `input_baselines_module_instances_module_instance` FOREIGN KEY (`module_instance_id`) REFERENCES `module_instances` (`id`) ON DELETE NO ACTION, CONSTRAINT `input_baselines_deployments_deployment` FOREIGN KEY (`deployment_id`) REFERENCES `deployments` (`id`) ON DELETE NO ACTION);
-- create index "inputbaseline_module_instance_id" to table: "input_baselines"
CREATE UNIQUE INDEX `inputbaseline_module_instance_id` ON `input_baselines` (`module_instance_id`);
