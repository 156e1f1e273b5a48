-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE `deployments` ADD COLUMN `proof_rank` integer NOT NULL DEFAULT 0;
CREATE INDEX `deployment_proof_rank` ON `deployments` (`organization_id`, `proof_rank`);
