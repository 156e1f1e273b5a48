-- +goose Up
-- compatible-with: 20261122012914
CREATE TABLE `runner_asks` (`id` integer NOT NULL PRIMARY KEY AUTOINCREMENT, `organization_id` text NOT NULL, `token_id` text NOT NULL, `deployment_type` text NOT NULL, `action` text NOT NULL, `asked_at` datetime NOT NULL);
CREATE UNIQUE INDEX `runner_ask_once` ON `runner_asks` (`organization_id`, `token_id`, `deployment_type`, `action`);
CREATE INDEX `runner_ask_newest` ON `runner_asks` (`organization_id`, `asked_at`);
CREATE INDEX `runner_ask_oldest` ON `runner_asks` (`asked_at`);
