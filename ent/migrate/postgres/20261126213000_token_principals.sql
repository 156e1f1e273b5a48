-- +goose Up
-- compatible-with: 20261122012914
-- Nobody has named holders yet: the principal of a token is the first of those who made it, each the next, and so who made
-- it has the same. What servers older than created_by_id did not note the audit knows; the organization of superadmins' is
-- global. The policies let it be read for all organizations at once.
SELECT set_config('app.isolation', 'filter', true);
WITH RECURSIVE made (id, maker) AS (
  SELECT t.id, COALESCE(t.created_by_id, (
    SELECT min(e.actor_id) FROM audit_events e
    WHERE e.organization_id = COALESCE(t.organization_id, 'global') AND e.object_id = t.id
      AND e.action = 'createToken' AND e.actor_id <> ''))
  FROM tokens t
), principal (id, first_id, is_made) AS (
  SELECT m.id, COALESCE(m.maker, m.id), m.maker IS NOT NULL
  FROM made m WHERE m.maker IS NULL OR NOT EXISTS (SELECT 1 FROM tokens t WHERE t.id = m.maker)
  UNION ALL
  SELECT m.id, p.first_id, true FROM principal p JOIN made m ON m.maker = p.id
)
UPDATE tokens SET principal_id = p.first_id, made_by_id = CASE WHEN p.is_made THEN p.first_id END
FROM principal p WHERE tokens.id = p.id AND tokens.principal_id IS NULL;
