-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE `tokens` ADD COLUMN `created_by_id` text NULL;
-- The audit knows who made the tokens that there are; the organization of superadmins' is global.
UPDATE `tokens` SET `created_by_id` = (
  SELECT `e`.`actor_id` FROM `audit_events` AS `e`
  WHERE `e`.`organization_id` = COALESCE(`tokens`.`organization_id`, 'global') AND `e`.`object_id` = `tokens`.`id`
    AND `e`.`action` = 'createToken' AND `e`.`actor_id` <> '');
