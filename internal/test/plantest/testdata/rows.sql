-- 400,000 rows, on either database; {last} is the last i, and fewer will do where plans do not depend on them.
-- Row i of every table is in the lane i % 50, and so is what it refers to. Lanes 0 to 9, a fifth of everything,
-- are one organization's and 10 to 19 another's; each lane from 20 on is a small organization, and in the
-- shared tables those from 40 on are everybody's. {acme}, {globex} and {at} are replaced by the ids of the two
-- organizations and by a time that grows with i, {recent} by one of the last day.
CREATE TEMPORARY TABLE n AS
WITH RECURSIVE counted(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM counted WHERE i < {last})
SELECT i, i / 50 AS block, i % 50 AS lane, {at} AS at, {recent} AS recent, 'text-' || i AS text,
       -- The ids after their prefixes: of the row itself, of the first row in its lane, of the large place.
       '0000000000000000000' || (1000000 + i) AS id,
       '0000000000000000000' || (1000000 + i % 50) AS first_id,
       '0000000000000000000' || (1000000 + CASE WHEN i % 50 < 9 THEN 0 ELSE i % 2500 END) AS place_id,
       CASE WHEN i % 50 < 10 THEN '{acme}' WHEN i % 50 < 20 THEN '{globex}'
            ELSE 'org_0000000000000000000' || (1000000 + i % 50) END AS owner,
       CASE WHEN i % 50 < 10 THEN '{acme}' WHEN i % 50 < 20 THEN '{globex}' WHEN i % 50 < 40
            THEN 'org_0000000000000000000' || (1000000 + i % 50) END AS sharing_owner
FROM counted;

INSERT INTO organizations (id, created_at, updated_at, name, slug, search_text)
SELECT 'org_' || id, at, at, text, text, text FROM n WHERE i BETWEEN 20 AND 5999;

-- The principal of a token is that of its lane in its block of a hundred, which the one of the block before made.
INSERT INTO tokens (id, created_at, updated_at, organization_id, name, role, hash, prefix, last_four, principal_id, search_text, holder, revoked_at, made_by_id)
SELECT 'tok_' || id, at, at, sharing_owner, text, 'viewer', text, 'slp_viewer_', 'last', 'holder:' || lane || '-' || (block / 100), text, CASE WHEN i % 7 = 0 THEN 'many' END,
       CASE WHEN block % 10 = 9 THEN at END, CASE WHEN block >= 100 THEN 'holder:' || lane || '-' || (block / 100 - 1) END FROM n WHERE i < 15000;

-- A quarter of the projects, the environments and the instances is archived.
-- A name_key is in hexadecimal, as the ids are after their prefixes.
INSERT INTO projects (id, created_at, updated_at, organization_id, name, slug, search_text, name_key, archived_at)
SELECT 'prj_' || id, at, at, owner, text, text, text, id, CASE WHEN block % 4 = 2 THEN at END FROM n WHERE i < 4500;

-- The environments of the newest blocks are in the large project.
INSERT INTO environments (id, created_at, updated_at, organization_id, project_id, name, slug, search_text, name_key, archived_at)
SELECT 'env_' || id, at, at, owner, 'prj_' || CASE WHEN i < 500 THEN id ELSE place_id END, text, text, text, id,
       CASE WHEN block % 4 = 2 THEN at END
FROM n WHERE i < 6000;

-- One module of each of some owners, and one of everybody's, has the type "web".
INSERT INTO module_definitions (id, created_at, updated_at, organization_id, name, type, search_text, name_key, status)
SELECT 'mod_' || id, at, at, sharing_owner, text, CASE WHEN i IN (50, 60, 70, 90) THEN 'web' ELSE text END, text, id,
       CASE WHEN block % 10 = 0 THEN 'DRAFT' ELSE 'ACTIVE' END
FROM n WHERE i < 6000;

INSERT INTO module_versions (id, created_at, updated_at, organization_id, module_definition_id, version, kind, inputs, uses_recorded)
SELECT 'mver_' || id, at, at, sharing_owner, 'mod_' || first_id, text, 'aws:ecs', '[]', true FROM n WHERE i < 6000;

-- Every third has drifted in one way, and few in another.
INSERT INTO module_instances (id, created_at, updated_at, organization_id, project_id, environment_id, module_definition_id, name, search_text, name_key, live_deployment_id, archived_at,
                              drift_kind, drift_since, drift_message, drift_deployment_id)
SELECT 'inst_' || id, at, at, owner, 'prj_' || place_id, 'env_' || place_id,
       'mod_' || CASE WHEN block % 2 = 0 THEN place_id ELSE id END, text, text, id, CASE WHEN block < 10 THEN 'dep_' || id END, CASE WHEN block % 4 = 2 THEN at END,
       CASE WHEN i % 3 = 0 THEN 'ROLLED_BACK' WHEN i % 1000 = 1 THEN 'CHANGED_OUTSIDE' END,
       at, text, 'dep_' || id
FROM n WHERE i < 6000;

INSERT INTO releases (id, created_at, updated_at, organization_id, module_version_id, digest, content)
SELECT 'rel_' || id, at, at, owner, 'mver_' || first_id, text, '{}' FROM n WHERE i < 2500;

-- A fifth of the deployments, 10,000, are in one environment of the first organization, whose lanes take in
-- those of some small ones for it. Each of the oldest instances and releases has fifty or more. A few
-- have not ended. Of each hundred some were not created by api, or with another version, creator or pipeline. A quarter of those of the first organization are of the one instance that {instance} is the id of.
INSERT INTO deployments (id, created_at, updated_at, organization_id, project_id, environment_id, module_instance_id, release_id,
                         module_definition_id, module_version_id, search_text, pipeline_run_id, created_by_id,
                         deployment_type, trigger_source, status, completed_at, created_by, lease_id, external_deployment_id, service_arn, given_from, override)
SELECT 'dep_' || n.id, n.at, n.at, home.owner,
       CASE WHEN home.lane BETWEEN 4 AND 8 THEN '{project}' ELSE 'prj_' || home.place_id END,
       CASE WHEN home.lane BETWEEN 4 AND 8 THEN '{environment}' ELSE 'env_' || home.place_id END,
       CASE WHEN home.lane BETWEEN 4 AND 8 THEN '{instance}' ELSE 'inst_0000000000000000000' || (1000000 + home.lane + 50 * (n.block % 20)) END,
       'rel_0000000000000000000' || (1000000 + home.lane + 50 * (n.block % 10)),
       'mod_' || CASE WHEN n.block % 100 = 31 THEN n.first_id ELSE home.place_id END,
       'mver_0000000000000000000' || (1000000 + home.lane + CASE WHEN n.block % 100 = 31 THEN 50 ELSE 0 END),
       'release ' || n.block, CASE WHEN n.block % 100 = 41 THEN 'run-7' END,
       CASE WHEN n.block % 100 = 51 THEN 'holder:few' ELSE 'holder:many' END,
       CASE WHEN n.lane IN (9, 19) THEN 'terraform' ELSE 'aws:ecs' END,
       CASE CASE WHEN n.block % 900 = 98 THEN 60 + n.lane % 5 * 10 + 1 ELSE n.block % 100 END WHEN 61 THEN 'rollback' WHEN 71 THEN 'destroy' WHEN 81 THEN 'redeploy' WHEN 85 THEN 'promotion' WHEN 91 THEN 'event' WHEN 95 THEN 'pipeline' ELSE 'api' END,
       CASE WHEN n.block = 998 AND n.lane < 20 AND home.lane NOT BETWEEN 4 AND 8 THEN 'PENDING' WHEN n.block % 900 = 98 THEN 'RUNNING' WHEN n.block % 50 = 7 THEN 'CANCELED'
            WHEN n.block % 10 = 3 THEN 'FAILED' ELSE 'SUCCEEDED' END,
       CASE WHEN n.block <> 998 OR n.lane >= 20 OR home.lane BETWEEN 4 AND 8 THEN n.at END, 'test',
       'lease-' || n.id, 'ecs-svc/' || n.i,
       'arn:aws:ecs:eu-west-1:123456789012:service/main/' || CASE WHEN n.block = 5 THEN 'waited-for-' || home.lane WHEN home.lane BETWEEN 4 AND 8 THEN 'web' ELSE 'service-' || home.lane END,
       CASE WHEN n.block % 20 <> 9 THEN 'dep_' || n.id END,
       (CASE WHEN n.block % 100 = 11 THEN '{"by":"test","at":"2026-01-01T00:00:00Z","reason":"r","requirements":[]}' END){json}
FROM n JOIN n AS home ON home.i = CASE WHEN n.lane BETWEEN 20 AND 28 THEN n.lane - 20 WHEN n.lane BETWEEN 30 AND 31 THEN n.lane - 30
                                       ELSE n.lane + 50 * (n.block % 2) END
WHERE n.i < 50000;

-- In the large place of each organization a rule is in force, and some deployments wait for the approval that it demands.
INSERT INTO rules (id, created_at, updated_at, organization_id, name, project_id, environment_id, operations, demand, overridable, created_by, ended_at)
SELECT 'rule_' || id, at, at, owner, text, 'prj_' || place_id, 'env_' || place_id, '["CREATE"]'{json}, '{"approvals":{"count":1,"role":"developer"}}'{json},
       true, 'test', CASE WHEN block > 0 OR lane % 10 > 0 THEN at END FROM n WHERE i < 2500;

INSERT INTO deployments (id, created_at, updated_at, organization_id, project_id, environment_id, module_instance_id, release_id,
                         deployment_type, trigger_source, status, created_by, waits_until)
SELECT 'dep_0000000000000000000' || (2000000 + i), at, at, owner, 'prj_' || place_id, 'env_' || place_id, 'inst_' || first_id, 'rel_' || first_id,
       'aws:ecs', 'api', 'AWAITING_APPROVAL', 'test', '2200-01-01T00:00:00Z' FROM n WHERE i < 500;

INSERT INTO approvals (id, created_at, updated_at, organization_id, deployment_id, principal_id, token_id, created_by, role, approved)
SELECT 'apr_' || id, at, at, owner, 'dep_0000000000000000000' || (2000000 + i), 'holder:x', 'tok_' || id, 'test', 'admin', true FROM n WHERE i < 500;

INSERT INTO default_value_definitions (id, created_at, updated_at, organization_id, given_id, name, search_text, "schema")
SELECT 'dvd_' || id, at, at, owner, text, text, text, '{"id":"x","type":"string","label":"X","values":[{"value":"a","label":"A"}]}' FROM n WHERE i < 6000;

INSERT INTO audit_events (id, created_at, organization_id, actor_id, actor_name, actor_role, channel, action, object_id, request_id)
SELECT 'aud_' || id, at, owner, 'tok_' || CASE WHEN block % 5 = 0 THEN id ELSE first_id END, 'test', 'admin', 'graphql',
       CASE WHEN block % 9 = 0 THEN 'createProject' ELSE 'rollbackDeployment' END, 'dep_' || first_id, text
FROM n WHERE i < 50000;

-- The oldest deployments have a page of lines and more.
INSERT INTO deployment_logs (organization_id, deployment_id, sequence, byte_offset, at, stream, text)
SELECT d.organization_id, d.id, line.i + 1, line.i, line.at, 'STDOUT', 'x'
FROM deployments d JOIN n AS line ON line.i < 60 WHERE d.id < 'dep_0000000000000000000' || (1000000 + 840);

-- Whatever has succeeded has outputs.
INSERT INTO deployment_outputs (organization_id, deployment_id, content)
SELECT organization_id, id, '{"url":"https://web"}' FROM deployments WHERE status = 'SUCCEEDED';

-- Of some nothing was kept, which are live at some instances. Every other one of the two large organizations has referred to
-- one of the oldest fifty instances of its own; each of these was referred to by few instances, and by one of them often.
INSERT INTO given_inputs (organization_id, deployment_id, content)
SELECT organization_id, id, '{}' FROM deployments WHERE given_from IS NOT NULL;

INSERT INTO deployment_references (organization_id, deployment_id, sequence, referrer_id, pointer, module_instance_id, read_deployment_id)
SELECT d.organization_id, d.id, 1, d.module_instance_id, '/of', 'inst_0000000000000000000' || (1000000 + n.lane + 50 * ((n.block + 1) % 5)), d.id
FROM deployments d JOIN n ON d.id = 'dep_' || n.id WHERE n.lane < 20 AND d.given_from IS NOT NULL;

-- Each definition of the oldest blocks is named by many versions.
INSERT INTO definition_uses (organization_id, given_id, module_version_id)
SELECT owner, 'text-' || i % 50, 'mver_' || id FROM n WHERE i < 6000;

INSERT INTO quarantines (id, organization_id, release_id, reason, created_at, created_by, lifted_at, lifted_by)
SELECT 'qua_' || id, owner, 'rel_' || id, text, at, 'test', CASE WHEN block % 2 = 0 THEN at END, CASE WHEN block % 2 = 0 THEN 'test' END
FROM n WHERE i < 2500;

INSERT INTO input_baselines (organization_id, module_instance_id, deployment_id, content, updated_at)
SELECT owner, 'inst_' || id, 'dep_' || id, '{}', at FROM n WHERE i < 6000;

-- Of what is removed when it is old, the first 150 are.
INSERT INTO deployment_changes (organization_id, deployment_id, version, kind, created_at)
SELECT owner, 'dep_' || id, 1, 'CREATED', CASE WHEN i < 150 THEN at ELSE recent END FROM n WHERE i < 50000;

INSERT INTO runner_asks (organization_id, token_id, deployment_type, action, asked_at)
SELECT owner, 'tok_' || id, 'aws:ecs', 'APPLY', CASE WHEN i < 150 THEN at ELSE recent END FROM n WHERE i < 15000;

INSERT INTO idempotency_keys (id, organization_id, actor_id, "key", request_hash, deployment_id, created_at)
SELECT 'idk_' || id, owner, 'tok_' || first_id, text, 'hash', 'dep_' || id, CASE WHEN i < 150 THEN at ELSE recent END FROM n WHERE i < 50000;

-- Some wait for their deployment, whose service has had others.
INSERT INTO cloud_events (organization_id, event_id, service_arn, occurred_at, event, deployment_id, pending_since, created_by, created_at)
SELECT owner, 'event-' || i, 'arn:aws:ecs:eu-west-1:123456789012:service/main/' || CASE WHEN block % 200 = 2 THEN 'waited-for-' || lane WHEN lane BETWEEN 4 AND 8 THEN 'web' ELSE 'service-' || lane END, recent,
       ('{"id":"event-' || i || '","kind":"ECS Deployment State Change","time":"2026-01-01T00:00:00Z","name":"SERVICE_DEPLOYMENT_COMPLETED",' ||
       '"serviceArn":"arn:aws:ecs:eu-west-1:123456789012:service/main/' || CASE WHEN lane BETWEEN 4 AND 8 THEN 'web' ELSE 'service-' || lane END || '","deploymentId":"ecs-svc/' || i || '"}'){json},
       CASE WHEN block % 200 <> 2 THEN 'dep_' || id END, CASE WHEN block % 200 = 2 THEN CASE WHEN i < 150 THEN at ELSE recent END END,
       'test', CASE WHEN i < 150 THEN at ELSE recent END
FROM n WHERE i < 50000;
