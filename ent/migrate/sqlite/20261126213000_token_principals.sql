-- +goose Up
-- compatible-with: 20261122012914
-- Nobody has named holders yet: the principal of a token is the first of those who made it, each the next, and so who made
-- it has the same. What servers older than created_by_id did not note the audit knows; the organization of superadmins' is
-- global. Until the principals are there, the index of makers finds what a token made, where the join keeps its order.
UPDATE `tokens` SET `made_by_id` = COALESCE(`created_by_id`, (
  SELECT min(`e`.`actor_id`) FROM `audit_events` AS `e`
  WHERE `e`.`organization_id` = COALESCE(`tokens`.`organization_id`, 'global') AND `e`.`object_id` = `tokens`.`id`
    AND `e`.`action` = 'createToken' AND `e`.`actor_id` <> ''));
WITH RECURSIVE `principal` (`id`, `first_id`) AS (
  SELECT `t`.`id`, COALESCE(`t`.`made_by_id`, `t`.`id`)
  FROM `tokens` AS `t` WHERE `t`.`made_by_id` IS NULL OR NOT EXISTS (SELECT 1 FROM `tokens` AS `m` WHERE `m`.`id` = `t`.`made_by_id`)
  UNION ALL
  SELECT `t`.`id`, `p`.`first_id` FROM `principal` AS `p` CROSS JOIN `tokens` AS `t` ON `t`.`principal_id` IS NULL AND `t`.`made_by_id` = `p`.`id`
)
UPDATE `tokens` SET `principal_id` = `p`.`first_id`, `made_by_id` = CASE WHEN `made_by_id` IS NOT NULL THEN `p`.`first_id` END
FROM `principal` AS `p` WHERE `tokens`.`id` = `p`.`id`;
-- Tokens that have made one another, which nobody can have done, have no first.
UPDATE `tokens` SET `made_by_id` = NULL WHERE `principal_id` IS NULL;
