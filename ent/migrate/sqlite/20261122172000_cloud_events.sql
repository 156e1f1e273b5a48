-- +goose Up
-- compatible-with: 20261122012914
-- add columns to table: "module_instances"
ALTER TABLE `module_instances` ADD COLUMN `external_deployment_id` text NULL;
-- add columns to table: "deployments"
ALTER TABLE `deployments` ADD COLUMN `external_id_adopted` bool NOT NULL DEFAULT false;
ALTER TABLE `deployments` ADD COLUMN `service_arn` text NULL;
CREATE UNIQUE INDEX `deployment_active` ON `deployments` (`module_instance_id`) WHERE completed_at IS NULL AND trigger_source <> 'event';
DROP INDEX `deployment_one_active`;
CREATE INDEX `deployment_service_newest` ON `deployments` (`organization_id`, `service_arn`, `created_at` DESC, `id` DESC) WHERE service_arn IS NOT NULL;
-- create "cloud_events" table
CREATE TABLE `cloud_events` (`id` integer NOT NULL PRIMARY KEY AUTOINCREMENT, `organization_id` text NOT NULL, `event_id` text NOT NULL, `service_arn` text NOT NULL, `occurred_at` datetime NOT NULL, `event` text NOT NULL, `deployment_id` text NULL, `pending_since` datetime NULL, `created_by` text NOT NULL, `scope` text NULL, `created_at` datetime NOT NULL);
CREATE UNIQUE INDEX `cloud_event_id` ON `cloud_events` (`organization_id`, `event_id`);
CREATE INDEX `cloud_event_service` ON `cloud_events` (`organization_id`, `service_arn`, `occurred_at`, `id`);
CREATE INDEX `cloud_event_pending` ON `cloud_events` (`organization_id`, `pending_since`) WHERE pending_since IS NOT NULL;
CREATE INDEX `cloudevent_pending_since` ON `cloud_events` (`pending_since`) WHERE pending_since IS NOT NULL;
CREATE INDEX `cloudevent_created_at` ON `cloud_events` (`created_at`);
-- What is live has its service known from the start; what comes later writes it by itself.
UPDATE `deployments` SET `service_arn` = json_extract(`data`, '$.serviceArn')
WHERE `id` IN (SELECT `live_deployment_id` FROM `module_instances`)
  AND json_extract(`data`, '$.serviceArn') LIKE 'arn:%:ecs:%:service/%' AND length(json_extract(`data`, '$.serviceArn')) <= 512;
