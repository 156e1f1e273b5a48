-- +goose Up
-- compatible-with: 20261122012914
-- add columns to table: "cloud_events"
ALTER TABLE `cloud_events` ADD COLUMN `subject` text NULL;
-- add columns to table: "deployments"
ALTER TABLE `deployments` ADD COLUMN `cloud_started_at` datetime NULL;
ALTER TABLE `deployments` ADD COLUMN `cloud_ended_at` datetime NULL;
-- create "cloud_services" table
CREATE TABLE `cloud_services` (`id` integer NOT NULL PRIMARY KEY AUTOINCREMENT, `organization_id` text NOT NULL, `service_arn` text NOT NULL, `created_at` datetime NOT NULL, `updated_at` datetime NOT NULL, `module_instance_id` text NOT NULL, CONSTRAINT `cloud_services_module_instances_module_instance` FOREIGN KEY (`module_instance_id`) REFERENCES `module_instances` (`id`) ON DELETE NO ACTION);
CREATE UNIQUE INDEX `cloud_service_arn` ON `cloud_services` (`organization_id`, `service_arn`);
CREATE INDEX `cloud_event_subject` ON `cloud_events` (`organization_id`, `service_arn`, `subject`) WHERE subject IS NOT NULL;
CREATE INDEX `cloud_event_deployment` ON `cloud_events` (`organization_id`, `deployment_id`, `occurred_at`, `id`) WHERE deployment_id IS NOT NULL;
CREATE INDEX `cloud_event_waiting` ON `cloud_events` (`organization_id`, `service_arn`, `occurred_at`, `id`) WHERE pending_since IS NOT NULL;
DROP INDEX `cloud_event_service`;
CREATE INDEX `deployment_cloud_id` ON `deployments` (`organization_id`, `external_deployment_id`, `service_arn`) WHERE external_deployment_id IS NOT NULL;
CREATE INDEX `deployment_cloud_started` ON `deployments` (`organization_id`, `module_instance_id`, `service_arn`, `cloud_started_at`, `external_deployment_id`, `id`) WHERE cloud_started_at IS NOT NULL;
CREATE INDEX `deployment_cloud_ended` ON `deployments` (`organization_id`, `module_instance_id`, `service_arn`, `cloud_started_at`) WHERE cloud_ended_at IS NOT NULL;
CREATE INDEX `deployment_held` ON `deployments` (`organization_id`, `module_instance_id`, `service_arn`, `started_at`, `id`) WHERE lease_id IS NOT NULL AND deployment_type = 'aws:ecs';
-- A service belongs to the instance of the last deployment that has it.
INSERT INTO `cloud_services` (`organization_id`, `service_arn`, `module_instance_id`, `created_at`, `updated_at`)
SELECT `organization_id`, `service_arn`, `module_instance_id`, `created_at`, `created_at` FROM (
  SELECT `organization_id`, `service_arn`, `module_instance_id`, `created_at`,
    row_number() OVER (PARTITION BY `organization_id`, `service_arn` ORDER BY `created_at` DESC, `id` DESC) AS `newest`
  FROM `deployments` WHERE `service_arn` IS NOT NULL
) WHERE `newest` = 1;
-- What was started outside began and ended by its events.
UPDATE `deployments` SET `cloud_started_at` = `started_at`,
  `cloud_ended_at` = CASE WHEN `status` IN ('SUCCEEDED', 'FAILED') THEN `completed_at` END
WHERE `trigger_source` = 'event';
UPDATE `cloud_events` SET `subject` = CASE json_extract(`event`, '$.kind')
  WHEN 'ECS Deployment State Change' THEN nullif(json_extract(`event`, '$.deploymentId'), '')
  WHEN 'ECS Hook State Change' THEN nullif(json_extract(`event`, '$.serviceDeploymentArn'), '')
END;
