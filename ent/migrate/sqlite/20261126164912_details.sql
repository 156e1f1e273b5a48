-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE `deployments` ADD COLUMN `details_folded_at` datetime NULL;
CREATE INDEX `deployment_details` ON `deployments` (`completed_at`, `id`) WHERE completed_at IS NOT NULL AND details_folded_at IS NULL;
-- No server has purged yet.
INSERT INTO `lease_sweeps` (`id`, `worked_at`, `resumed_at`) VALUES ('purge', '1970-01-01 00:00:00+00:00', '1970-01-01 00:00:00+00:00');
