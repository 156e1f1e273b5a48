-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE `deployment_changes` ADD COLUMN `kind` text NULL;
CREATE INDEX `deploymentchange_organization_id_xid_id` ON `deployment_changes` (`organization_id`, `xid`, `id`);
