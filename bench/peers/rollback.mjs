// The rollback of a deployment: the checks, the rows and the texts of Slipway's own, so that it serves them afterwards.

import { createHash, randomUUID } from 'node:crypto';
import { typeidUnboxed } from 'typeid-js';
import { statement, transaction } from './database.mjs';
import { refusal } from './records.mjs';

// What decides on the rollback, and what it takes over. Every joined row is of the same organization, but the version,
// which may be everybody's.
const readSource = `
  SELECT d.id, d.project_id AS "projectId", d.environment_id AS "environmentId", d.module_instance_id AS "moduleInstanceId",
    d.deployment_type AS "deploymentType", d.status, d.created_by AS "createdBy", d.completed_at AS "completedAt",
    d.release_id AS "releaseId", d.resource_arn AS "resourceArn", d.resource_name AS "resourceName", d.data,
    r.digest, r.content, v.version, q.id AS "quarantineId", q.until AS "quarantinedUntil", a.id AS "activeId",
    l.data -> 'deployedTaskDefinition' AS previous
  FROM deployments d
  LEFT JOIN releases r ON r.id = d.release_id AND r.organization_id = d.organization_id
  LEFT JOIN module_versions v ON v.id = r.module_version_id
  LEFT JOIN quarantines q ON q.release_id = d.release_id AND q.organization_id = d.organization_id AND q.lifted_at IS NULL
  LEFT JOIN module_instances i ON i.id = d.module_instance_id AND i.organization_id = d.organization_id
  LEFT JOIN deployments a ON a.module_instance_id = d.module_instance_id AND a.organization_id = d.organization_id AND a.completed_at IS NULL AND a.trigger_source <> 'event'
  LEFT JOIN deployments l ON l.id = i.live_deployment_id AND l.organization_id = d.organization_id
  WHERE d.organization_id = $1 AND d.id = $2`;

// The deployment, its change row and its audit event.
const insert = `
  WITH deployment AS (
    INSERT INTO deployments (id, created_at, updated_at, organization_id, project_id, environment_id, module_instance_id, release_id,
      deployment_type, trigger_source, status, description, resource_arn, resource_name, data, created_by, rollback_to_deployment_id)
    VALUES ($1, $2, $2, $3, $4, $5, $6, $7, $8, 'rollback', 'PENDING', $9, $10, $11, $12, $13, $14)
  ), change AS (
    INSERT INTO deployment_changes (organization_id, deployment_id, version, created_at) VALUES ($3, $1, 1, $2)
  )
  INSERT INTO audit_events (id, organization_id, created_at, actor_id, actor_name, actor_role, channel, action, object_id, request_id, changes)
  VALUES ($15, $3, $2, $16, $13, $17, 'graphql', 'rollbackDeployment', $1, $18, $19)`;

// rollback creates a deployment that ships the release of an earlier one, which must have succeeded, and returns it.
export async function rollback(targetId, actor, requestId) {
  const id = typeidUnboxed('dep');
  const auditId = typeidUnboxed('aud');
  const at = new Date().toISOString();
  try {
    return await transaction(actor.organizationId, async (client) => {
      const { rows: [source] } = await client.query(statement(readSource, [actor.organizationId, targetId]));
      const content = check(source, targetId, actor, at);
      const deployment = {
        id, createdAt: at, updatedAt: at, organizationId: actor.organizationId,
        projectId: source.projectId, environmentId: source.environmentId, moduleInstanceId: source.moduleInstanceId,
        releaseId: source.releaseId, deploymentType: source.deploymentType, triggerSource: 'rollback', status: 'PENDING',
        description: `Rollback to ${source.id}: version ${source.version}, succeeded at ${source.completedAt.slice(0, 19)}Z, started by ${source.createdBy}`,
        resourceArn: source.resourceArn, resourceName: source.resourceName, dataJson: replayedData(source, content, actor),
        createdBy: actor.name, rollbackToDeploymentId: source.id,
      };
      await client.query(statement(insert, [
        id, at, actor.organizationId, deployment.projectId, deployment.environmentId, deployment.moduleInstanceId, deployment.releaseId,
        deployment.deploymentType, deployment.description, deployment.resourceArn, deployment.resourceName,
        deployment.dataJson && JSON.stringify(deployment.dataJson), actor.name, source.id,
        auditId, actor.id, actor.role, requestId ?? randomUUID(), JSON.stringify({ releaseId: source.releaseId, source: source.id }),
      ]));
      return deployment;
    });
  } catch (error) {
    if (error.constraint === 'deployment_active') throw inProgress();
    throw error;
  }
}

// check returns what the release of a source ships, or fails for the first reason why it may not be rolled back to.
function check(source, targetId, actor, at) {
  if (!source) throw refusal('slipway:Deployment:NOT_FOUND', `There is no Deployment ${targetId}.`);
  if (!mayDeploy(actor, source)) throw refusal('slipway:Deployment:FORBIDDEN', `The token may not deploy to ${source.environmentId}.`);
  if (source.status !== 'SUCCEEDED') {
    throw refusal('slipway:Deployment:TARGET_NOT_SUCCEEDED', `The deployment ${source.id} cannot be rolled back to: its status is ${source.status}, not SUCCEEDED.`);
  }
  if (!source.digest) throw refusal('slipway:Release:UNAVAILABLE', `The release of the deployment ${source.id} is no longer stored.`);
  if (`sha256:${createHash('sha256').update(source.content).digest('hex')}` !== source.digest) {
    throw refusal('slipway:Release:DIGEST_MISMATCH', `The release ${source.releaseId} is not what was stored: its content does not have its digest.`);
  }
  if (source.quarantineId && !(Date.parse(source.quarantinedUntil) <= Date.parse(at))) {
    throw refusal('slipway:Release:QUARANTINED', `The release ${source.releaseId} is quarantined.`);
  }
  if (source.activeId) throw inProgress();
  return JSON.parse(source.content);
}

function mayDeploy({ role, scope }, { projectId, environmentId }) {
  if (role !== 'developer' && role !== 'admin') return false;
  return !scope || scope.projects.includes(projectId) || scope.environments.includes(environmentId);
}

function inProgress() {
  return refusal('slipway:Deployment:IN_PROGRESS', 'Another deployment of the instance is active.');
}

// replayedData returns the data of the new deployment, null for a deployment type that has none: where the source was
// deployed to, what its release ships and what is live now. What is undefined is left out of the JSON.
function replayedData({ data, previous }, { artifact }, actor) {
  return data && {
    type: data.type,
    clusterArn: data.clusterArn,
    serviceArn: data.serviceArn,
    deployedTaskDefinition: artifact ?? undefined,
    previousTaskDefinition: previous ?? undefined,
    postDeployEnabled: data.postDeployEnabled,
    preDeployEnabled: data.preDeployEnabled,
    triggerChannel: 'graphql',
    triggeredBy: actor.name,
  };
}
