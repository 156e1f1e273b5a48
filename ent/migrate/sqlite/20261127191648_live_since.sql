-- +goose Up
-- compatible-with: 20261122012914
CREATE INDEX `token_principal` ON `tokens` (`principal_id`);
ALTER TABLE `deployments` ADD COLUMN `live_since` datetime NULL;
