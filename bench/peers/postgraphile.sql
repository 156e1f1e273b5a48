-- The rollback of a deployment for PostGraphile, whose own mutations are functions of the database: the checks, the
-- rows and the texts of Slipway's own. To be run by the owner of the tables; it may be run again.

BEGIN;

-- A TypeID: a prefix and a UUID of version 7 in base 32.
CREATE OR REPLACE FUNCTION peer_typeid(prefix text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  digits constant text := '0123456789abcdefghjkmnpqrstvwxyz';
  uuid bytea := uuid_send(gen_random_uuid());
  bits bit varying;
  result text := prefix || '_';
BEGIN
  uuid := overlay(uuid PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1 FOR 6);
  uuid := set_byte(uuid, 6, get_byte(uuid, 6) & 15 | 112);
  bits := B'00' || ('x' || encode(uuid, 'hex'))::bit(128);
  FOR i IN 0..25 LOOP
    result := result || substr(digits, substring(bits FROM i * 5 + 1 FOR 5)::bit(5)::int + 1, 1);
  END LOOP;
  RETURN result;
END $$;

CREATE OR REPLACE FUNCTION peer_refuse(code text, message text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION USING MESSAGE = message, DETAIL = code;
END $$;

-- The actor's id, name, role and scope are those of its token, organization that of the token.
CREATE OR REPLACE FUNCTION peer_rollback(target text, organization text, actor_id text, actor_name text, actor_role text, scope json, request_id text)
RETURNS deployments LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  source record;
  artifact json;
  created deployments;
  at timestamptz := date_trunc('milliseconds', clock_timestamp());
BEGIN
  PERFORM set_config('app.org_id', organization, true), set_config('app.isolation', 'strict', true);

  -- What decides on the rollback, and what it takes over.
  SELECT d.*, r.digest, r.content, v.version AS version_name, q.id AS quarantine_id, q.until AS quarantined_until, a.id AS active_id,
    l.data -> 'deployedTaskDefinition' AS previous
  INTO source
  FROM deployments d
  LEFT JOIN releases r ON r.id = d.release_id AND r.organization_id = d.organization_id
  LEFT JOIN module_versions v ON v.id = r.module_version_id
  LEFT JOIN quarantines q ON q.release_id = d.release_id AND q.organization_id = d.organization_id AND q.lifted_at IS NULL
  LEFT JOIN module_instances i ON i.id = d.module_instance_id AND i.organization_id = d.organization_id
  LEFT JOIN deployments a ON a.module_instance_id = d.module_instance_id AND a.organization_id = d.organization_id AND a.completed_at IS NULL AND a.trigger_source <> 'event'
  LEFT JOIN deployments l ON l.id = i.live_deployment_id AND l.organization_id = d.organization_id
  WHERE d.organization_id = organization AND d.id = target;

  IF NOT FOUND THEN
    PERFORM peer_refuse('slipway:Deployment:NOT_FOUND', format('There is no Deployment %s.', target));
  ELSIF actor_role NOT IN ('developer', 'admin')
      OR scope IS NOT NULL AND NOT coalesce((scope -> 'projects')::jsonb ? source.project_id, false)
                           AND NOT coalesce((scope -> 'environments')::jsonb ? source.environment_id, false) THEN
    PERFORM peer_refuse('slipway:Deployment:FORBIDDEN', format('The token may not deploy to %s.', source.environment_id));
  ELSIF source.status <> 'SUCCEEDED' THEN
    PERFORM peer_refuse('slipway:Deployment:TARGET_NOT_SUCCEEDED', format('The deployment %s cannot be rolled back to: its status is %s, not SUCCEEDED.', source.id, source.status));
  ELSIF source.digest IS NULL THEN
    PERFORM peer_refuse('slipway:Release:UNAVAILABLE', format('The release of the deployment %s is not stored any more.', source.id));
  ELSIF 'sha256:' || encode(sha256(convert_to(source.content, 'UTF8')), 'hex') <> source.digest THEN
    PERFORM peer_refuse('slipway:Release:DIGEST_MISMATCH', format('The release %s is not what was stored: its content does not have its digest.', source.release_id));
  ELSIF source.quarantine_id IS NOT NULL AND NOT coalesce(source.quarantined_until <= at, false) THEN
    PERFORM peer_refuse('slipway:Release:QUARANTINED', format('The release %s is quarantined.', source.release_id));
  ELSIF source.active_id IS NOT NULL THEN
    PERFORM peer_refuse('slipway:Deployment:IN_PROGRESS', 'Another deployment of the instance is active.');
  END IF;

  -- Members that are not there stay away; those that are keep their text.
  artifact := source.content::json -> 'artifact';
  INSERT INTO deployments (id, created_at, updated_at, organization_id, project_id, environment_id, module_instance_id, release_id,
    deployment_type, trigger_source, status, description, resource_arn, resource_name, data, created_by, rollback_to_deployment_id)
  VALUES (peer_typeid('dep'), at, at, organization, source.project_id, source.environment_id, source.module_instance_id, source.release_id,
    source.deployment_type, 'rollback', 'PENDING',
    format('Rollback to %s: version %s, succeeded at %s, started by %s', source.id, source.version_name,
      to_char(source.completed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), source.created_by),
    source.resource_arn, source.resource_name,
    CASE WHEN source.data IS NOT NULL THEN (
      SELECT '{' || string_agg(to_json(name) || ':' || value::text, ',' ORDER BY place) || '}'
      FROM (VALUES
        (1, 'type', source.data -> 'type'),
        (2, 'clusterArn', source.data -> 'clusterArn'),
        (3, 'serviceArn', source.data -> 'serviceArn'),
        (4, 'deployedTaskDefinition', artifact),
        (5, 'previousTaskDefinition', source.previous),
        (6, 'postDeployEnabled', source.data -> 'postDeployEnabled'),
        (7, 'preDeployEnabled', source.data -> 'preDeployEnabled'),
        (8, 'triggerChannel', '"graphql"'::json),
        (9, 'triggeredBy', to_json(actor_name))
      ) AS member (place, name, value)
      WHERE value IS NOT NULL AND value::text <> 'null')::json
    END,
    actor_name, source.id)
  RETURNING * INTO created;
  INSERT INTO deployment_changes (organization_id, deployment_id, version, created_at) VALUES (organization, created.id, 1, at);
  INSERT INTO audit_events (id, organization_id, created_at, actor_id, actor_name, actor_role, channel, action, object_id, request_id, changes)
  VALUES (peer_typeid('aud'), organization, at, actor_id, actor_name, actor_role, 'graphql', 'rollbackDeployment', created.id, request_id,
    json_build_object('releaseId', created.release_id, 'source', source.id));
  RETURN created;
END $$;

COMMIT;
