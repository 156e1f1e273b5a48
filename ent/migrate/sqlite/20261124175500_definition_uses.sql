-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE `module_versions` ADD COLUMN `uses_recorded` bool NOT NULL DEFAULT false;
CREATE INDEX `module_version_uses_unrecorded` ON `module_versions` (`organization_id`, `id`) WHERE NOT uses_recorded;
CREATE INDEX `deployment_type_status_newest` ON `deployments` (`organization_id`, `deployment_type`, `status`, `created_at` DESC, `id` DESC);
CREATE INDEX `deployment_pending` ON `deployments` (`organization_id`, `created_at`, `id`) WHERE status = 'PENDING';
CREATE TABLE `definition_uses` (`id` integer NOT NULL PRIMARY KEY AUTOINCREMENT, `organization_id` text NOT NULL, `given_id` text NOT NULL, `module_version_id` text NOT NULL, CONSTRAINT `definition_uses_module_versions_module_version` FOREIGN KEY (`module_version_id`) REFERENCES `module_versions` (`id`) ON DELETE NO ACTION);
CREATE UNIQUE INDEX `definition_use` ON `definition_uses` (`organization_id`, `given_id`, `module_version_id`);
-- A property takes its options from a definition where its values name the source, and has others within it.
INSERT INTO `definition_uses` (`organization_id`, `given_id`, `module_version_id`)
WITH RECURSIVE `property` (`organization_id`, `version_id`, `item`) AS (
  SELECT `v`.`organization_id`, `v`.`id`, `i`.`value` FROM `module_versions` AS `v`, json_each(`v`.`inputs`) AS `i`
  WHERE `v`.`organization_id` IS NOT NULL
  UNION ALL
  SELECT `p`.`organization_id`, `p`.`version_id`, `i`.`value` FROM `property` AS `p`, json_each(`p`.`item`, '$.item_inputs') AS `i`
  UNION ALL
  SELECT `p`.`organization_id`, `p`.`version_id`, `i`.`value` FROM `property` AS `p`, json_each(`p`.`item`, '$.mapped_inputs') AS `i`
)
SELECT DISTINCT `organization_id`, json_extract(`item`, '$.values.params.givenId'), `version_id` FROM `property`
WHERE json_extract(`item`, '$.values.source') = 'default_value_definition' AND json_type(`item`, '$.values.params.givenId') = 'text';
-- What an older program publishes from now on is not recorded: it leaves the column out.
UPDATE `module_versions` SET `uses_recorded` = true;
