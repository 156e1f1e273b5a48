-- +goose Up
-- compatible-with: 20261122012914
-- Each column is added, which leaves the table and the columns that are there as they are.
ALTER TABLE `deployments` ADD COLUMN `fence` integer NULL;
ALTER TABLE `deployments` ADD COLUMN `cancel_requested_at` datetime NULL;
ALTER TABLE `deployments` ADD COLUMN `cancel_requested_by` text NULL;
ALTER TABLE `deployments` ADD COLUMN `forced` bool NOT NULL DEFAULT false;
ALTER TABLE `module_instances` ADD COLUMN `fence` integer NOT NULL DEFAULT 0;
ALTER TABLE `module_instances` ADD COLUMN `forced_deployment_id` text NULL;
CREATE TABLE `lease_sweeps` (`id` text NOT NULL, `worked_at` datetime NOT NULL, `resumed_at` datetime NOT NULL, PRIMARY KEY (`id`));
-- No round was carried out yet.
INSERT INTO `lease_sweeps` (`id`, `worked_at`, `resumed_at`) VALUES ('leases', '1970-01-01 00:00:00+00:00', '1970-01-01 00:00:00+00:00');
