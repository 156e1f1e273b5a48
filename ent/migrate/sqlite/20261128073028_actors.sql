-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE `module_versions` ADD COLUMN `deprecated_by_actor` text NULL;
ALTER TABLE `tokens` ADD COLUMN `revoked_by` text NULL;
ALTER TABLE `tokens` ADD COLUMN `revoked_by_actor` text NULL;
ALTER TABLE `deployments` ADD COLUMN `created_by_actor` text NULL;
ALTER TABLE `deployments` ADD COLUMN `runner_actor` text NULL;
ALTER TABLE `deployments` ADD COLUMN `cancel_requested_by_actor` text NULL;
ALTER TABLE `quarantines` ADD COLUMN `created_by_actor` text NULL;
ALTER TABLE `quarantines` ADD COLUMN `lifted_by_actor` text NULL;
ALTER TABLE `cloud_events` ADD COLUMN `created_by_actor` text NULL;
ALTER TABLE `rules` ADD COLUMN `created_by_actor` text NULL;
ALTER TABLE `rules` ADD COLUMN `ended_by` text NULL;
ALTER TABLE `rules` ADD COLUMN `ended_by_actor` text NULL;
-- The audit knows by which tokens; what is under way gets none, so that nobody waits for it.
UPDATE `deployments` SET `created_by_actor` = (
  SELECT max(`e`.`actor_id`) FROM `audit_events` AS `e`
  WHERE `e`.`organization_id` = `deployments`.`organization_id` AND `e`.`object_id` = `deployments`.`id` AND `e`.`actor_id` <> ''
    AND `e`.`action` IN ('createDeployment', 'promoteDeployment', 'redeployDeployment', 'rollbackDeployment', 'destroyModuleInstance')),
  `runner_actor` = (
  SELECT max(`e`.`actor_id`) FROM `audit_events` AS `e`
  WHERE `deployments`.`runner` IS NOT NULL AND `e`.`organization_id` = `deployments`.`organization_id`
    AND `e`.`object_id` = `deployments`.`id` AND `e`.`actor_id` <> '' AND `e`.`action` = 'claimDeployment'),
  `cancel_requested_by_actor` = (
  SELECT `e`.`actor_id` FROM `audit_events` AS `e`
  WHERE `deployments`.`cancel_requested_at` IS NOT NULL AND `e`.`organization_id` = `deployments`.`organization_id`
    AND `e`.`object_id` = `deployments`.`id` AND `e`.`actor_id` <> '' AND `e`.`action` = 'cancelDeployment'
  ORDER BY `e`.`created_at`, `e`.`id` LIMIT 1)
WHERE `completed_at` IS NOT NULL;
UPDATE `module_versions` SET `deprecated_by_actor` = (
  SELECT max(`e`.`actor_id`) FROM `audit_events` AS `e`
  WHERE `e`.`organization_id` = COALESCE(`module_versions`.`organization_id`, 'global') AND `e`.`object_id` = `module_versions`.`id`
    AND `e`.`actor_id` <> '' AND `e`.`action` = 'deprecateModuleVersion' AND `e`.`created_at` = `module_versions`.`deprecated_at`)
WHERE `deprecated_at` IS NOT NULL;
UPDATE `quarantines` SET `created_by_actor` = (
  SELECT max(`e`.`actor_id`) FROM `audit_events` AS `e`
  WHERE `e`.`organization_id` = `quarantines`.`organization_id` AND `e`.`object_id` = `quarantines`.`release_id`
    AND `e`.`actor_id` <> '' AND `e`.`action` = 'quarantineRelease' AND `e`.`created_at` = `quarantines`.`created_at`),
  `lifted_by_actor` = (
  SELECT max(`e`.`actor_id`) FROM `audit_events` AS `e`
  WHERE `quarantines`.`lifted_by` IS NOT NULL AND `e`.`organization_id` = `quarantines`.`organization_id`
    AND `e`.`object_id` = `quarantines`.`release_id` AND `e`.`actor_id` <> '' AND `e`.`created_at` = `quarantines`.`lifted_at`);
UPDATE `rules` SET `created_by_actor` = (
  SELECT max(`e`.`actor_id`) FROM `audit_events` AS `e`
  WHERE `e`.`organization_id` = `rules`.`organization_id` AND `e`.`object_id` = `rules`.`id` AND `e`.`actor_id` <> ''
    AND `e`.`action` = 'createRule'),
  `ended_by` = (
  SELECT max(`e`.`actor_name`) FROM `audit_events` AS `e`
  WHERE `rules`.`ended_at` IS NOT NULL AND `e`.`organization_id` = `rules`.`organization_id` AND `e`.`object_id` = `rules`.`id`
    AND `e`.`action` = 'endRule'),
  `ended_by_actor` = (
  SELECT max(`e`.`actor_id`) FROM `audit_events` AS `e`
  WHERE `rules`.`ended_at` IS NOT NULL AND `e`.`organization_id` = `rules`.`organization_id` AND `e`.`object_id` = `rules`.`id`
    AND `e`.`actor_id` <> '' AND `e`.`action` = 'endRule');
UPDATE `tokens` SET `revoked_by` = (
  SELECT max(`e`.`actor_name`) FROM `audit_events` AS `e`
  WHERE `e`.`organization_id` = COALESCE(`tokens`.`organization_id`, 'global') AND `e`.`object_id` = `tokens`.`id`
    AND `e`.`action` = 'revokeToken'),
  `revoked_by_actor` = (
  SELECT max(`e`.`actor_id`) FROM `audit_events` AS `e`
  WHERE `e`.`organization_id` = COALESCE(`tokens`.`organization_id`, 'global') AND `e`.`object_id` = `tokens`.`id`
    AND `e`.`actor_id` <> '' AND `e`.`action` = 'revokeToken')
WHERE `revoked_at` IS NOT NULL;
