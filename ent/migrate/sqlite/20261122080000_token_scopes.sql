-- +goose Up
-- compatible-with: 20261122012914
CREATE INDEX `organization_created_at_id` ON `organizations` (`created_at` DESC, `id` DESC);
ALTER TABLE `tokens` ADD COLUMN `scope` text NULL;
ALTER TABLE `tokens` ADD COLUMN `created_by` text NULL;
CREATE INDEX `token_superadmin_newest` ON `tokens` (`created_at` DESC, `id` DESC) WHERE organization_id IS NULL;
