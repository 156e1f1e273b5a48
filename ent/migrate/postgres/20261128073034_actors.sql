-- +goose Up
-- compatible-with: 20261122012914
-- The audit knows by which tokens; what is under way gets none, so that nobody waits for it.
-- +goose StatementBegin
DO $$
DECLARE
  o text;
BEGIN
  FOR o IN SELECT id FROM organizations UNION ALL SELECT 'global' LOOP
    PERFORM set_config('app.org_id', o, true), set_config('app.isolation', 'filter', true);
    UPDATE "deployments" SET "created_by_actor" = (
      SELECT max("e"."actor_id") FROM "audit_events" AS "e"
      WHERE "e"."organization_id" = "deployments"."organization_id" AND "e"."object_id" = "deployments"."id" AND "e"."actor_id" <> ''
        AND "e"."action" IN ('createDeployment', 'promoteDeployment', 'redeployDeployment', 'rollbackDeployment', 'destroyModuleInstance')),
      "runner_actor" = (
      SELECT max("e"."actor_id") FROM "audit_events" AS "e"
      WHERE "deployments"."runner" IS NOT NULL AND "e"."organization_id" = "deployments"."organization_id"
        AND "e"."object_id" = "deployments"."id" AND "e"."actor_id" <> '' AND "e"."action" = 'claimDeployment'),
      "cancel_requested_by_actor" = (
      SELECT "e"."actor_id" FROM "audit_events" AS "e"
      WHERE "deployments"."cancel_requested_at" IS NOT NULL AND "e"."organization_id" = "deployments"."organization_id"
        AND "e"."object_id" = "deployments"."id" AND "e"."actor_id" <> '' AND "e"."action" = 'cancelDeployment'
      ORDER BY "e"."created_at", "e"."id" LIMIT 1)
    WHERE "deployments"."organization_id" = o AND "completed_at" IS NOT NULL;
    UPDATE "module_versions" SET "deprecated_by_actor" = (
      SELECT max("e"."actor_id") FROM "audit_events" AS "e"
      WHERE "e"."organization_id" = o AND "e"."object_id" = "module_versions"."id"
        AND "e"."actor_id" <> '' AND "e"."action" = 'deprecateModuleVersion' AND "e"."created_at" = "module_versions"."deprecated_at")
    WHERE ("module_versions"."organization_id" = o OR o = 'global' AND "module_versions"."organization_id" IS NULL) AND "deprecated_at" IS NOT NULL;
    UPDATE "quarantines" SET "created_by_actor" = (
      SELECT max("e"."actor_id") FROM "audit_events" AS "e"
      WHERE "e"."organization_id" = "quarantines"."organization_id" AND "e"."object_id" = "quarantines"."release_id"
        AND "e"."actor_id" <> '' AND "e"."action" = 'quarantineRelease' AND "e"."created_at" = "quarantines"."created_at"),
      "lifted_by_actor" = (
      SELECT max("e"."actor_id") FROM "audit_events" AS "e"
      WHERE "quarantines"."lifted_by" IS NOT NULL AND "e"."organization_id" = "quarantines"."organization_id"
        AND "e"."object_id" = "quarantines"."release_id" AND "e"."actor_id" <> '' AND "e"."created_at" = "quarantines"."lifted_at")
    WHERE "quarantines"."organization_id" = o;
    UPDATE "rules" SET "created_by_actor" = (
      SELECT max("e"."actor_id") FROM "audit_events" AS "e"
      WHERE "e"."organization_id" = "rules"."organization_id" AND "e"."object_id" = "rules"."id" AND "e"."actor_id" <> ''
        AND "e"."action" = 'createRule'),
      "ended_by" = (
      SELECT max("e"."actor_name") FROM "audit_events" AS "e"
      WHERE "rules"."ended_at" IS NOT NULL AND "e"."organization_id" = "rules"."organization_id" AND "e"."object_id" = "rules"."id"
        AND "e"."action" = 'endRule'),
      "ended_by_actor" = (
      SELECT max("e"."actor_id") FROM "audit_events" AS "e"
      WHERE "rules"."ended_at" IS NOT NULL AND "e"."organization_id" = "rules"."organization_id" AND "e"."object_id" = "rules"."id"
        AND "e"."actor_id" <> '' AND "e"."action" = 'endRule')
    WHERE "rules"."organization_id" = o;
    UPDATE "tokens" SET "revoked_by" = (
      SELECT max("e"."actor_name") FROM "audit_events" AS "e"
      WHERE "e"."organization_id" = o AND "e"."object_id" = "tokens"."id"
        AND "e"."action" = 'revokeToken'),
      "revoked_by_actor" = (
      SELECT max("e"."actor_id") FROM "audit_events" AS "e"
      WHERE "e"."organization_id" = o AND "e"."object_id" = "tokens"."id"
        AND "e"."actor_id" <> '' AND "e"."action" = 'revokeToken')
    WHERE ("tokens"."organization_id" = o OR o = 'global' AND "tokens"."organization_id" IS NULL) AND "revoked_at" IS NOT NULL;
  END LOOP;
END $$;
-- +goose StatementEnd
