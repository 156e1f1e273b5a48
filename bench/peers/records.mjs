// Reading records: one by its id, many by theirs, a page of a list, and a page of each of several lists. Every
// statement has the organization among its conditions.

import { GraphQLError } from 'graphql';
import { query } from './database.mjs';
import { selection } from './selection.mjs';

// A type's columns by field. A field that leads to another record needs the column in references.
const identity = { id: 'id', createdAt: 'created_at', updatedAt: 'updated_at', organizationId: 'organization_id' };

export const Deployment = {
  name: 'Deployment',
  table: 'deployments',
  columns: {
    ...identity,
    projectId: 'project_id',
    environmentId: 'environment_id',
    moduleInstanceId: 'module_instance_id',
    deploymentType: 'deployment_type',
    triggerSource: 'trigger_source',
    status: 'status',
    description: 'description',
    startedAt: 'started_at',
    completedAt: 'completed_at',
    resourceArn: 'resource_arn',
    resourceName: 'resource_name',
    rollbackToDeploymentId: 'rollback_to_deployment_id',
    releaseId: 'release_id',
    dataJson: 'data',
    createdBy: 'created_by',
  },
  references: { moduleInstance: 'moduleInstanceId', rollbackTo: 'rollbackToDeploymentId' },
};

export const ModuleInstance = {
  name: 'ModuleInstance',
  table: 'module_instances',
  columns: {
    ...identity,
    projectId: 'project_id',
    environmentId: 'environment_id',
    moduleDefinitionId: 'module_definition_id',
    name: 'name',
    liveDeploymentId: 'live_deployment_id',
  },
  references: { environment: 'environmentId', moduleDefinition: 'moduleDefinitionId', liveDeployment: 'liveDeploymentId' },
};

// Definitions without an organization are everybody's.
export const ModuleDefinition = {
  name: 'ModuleDefinition',
  table: 'module_definitions',
  shared: true,
  columns: {
    ...identity,
    name: 'name',
    description: 'description',
    type: 'type',
    status: 'status',
    latestVersion: 'latest_version',
    latestVersionId: 'latest_version_id',
  },
};

export const Environment = {
  name: 'Environment',
  table: 'environments',
  columns: { ...identity, projectId: 'project_id', name: 'name', slug: 'slug' },
};

export const Project = {
  name: 'Project',
  table: 'projects',
  columns: { ...identity, name: 'name', slug: 'slug' },
};

// findOne returns the record of an id; without one it fails.
export async function findOne(type, id, actor, info) {
  const columns = columnsOf(type, selection(info.fieldNodes, info.fragments, [[]]));
  const [row] = await query(`SELECT ${columns} FROM ${type.table} WHERE ${owned(type)} AND id = $2`, [actor.organizationId, id]);
  if (!row) throw refusal(`slipway:${type.name}:NOT_FOUND`, `There is no ${type.name} ${id}.`);
  return row;
}

// findMany returns the records of ids that there are, in no order, with the columns of the fields.
export function findMany(type, ids, actor, fields) {
  return query(`SELECT ${columnsOf(type, fields)} FROM ${type.table} WHERE ${owned(type)} AND id = ANY($2)`, [actor.organizationId, ids]);
}

// pageFields returns the fields that are asked of the records of a connection.
export function pageFields(nodes, fragments) {
  return selection(nodes, fragments, [['nodes'], ['edges', 'node']]);
}

// findPage returns a page of the records that meet conditions, values by field; those that are null or undefined do
// not count.
export async function findPage(type, conditions, { first, after }, actor, info) {
  const values = [actor.organizationId];
  const bind = (value) => `$${values.push(value)}`;
  const where = Object.entries(conditions)
    .filter(([, value]) => value != null)
    .map(([field, value]) => ` AND ${type.columns[field]} = ${bind(value)}`);
  if (after != null) where.push(` AND (created_at, id) < (${readCursor(after).map(bind)})`);
  const rows = await query(
    `SELECT ${columnsOf(type, pageFields(info.fieldNodes, info.fragments), keys)} FROM ${source(type, where.join(''))}
     ORDER BY created_at DESC, id DESC LIMIT ${limit(first)}`,
    values,
  );
  return connection(rows, first);
}

// findPages returns the first page of the list of each parent, by its id. The field has the id of a row's parent.
export async function findPages(type, field, ids, first, actor, fields) {
  const columns = columnsOf(type, fields, [...keys, field]);
  const rows = await query(
    `SELECT child.* FROM unnest($2::varchar[]) AS parent (id) CROSS JOIN LATERAL (
       SELECT ${columns} FROM ${type.table} WHERE ${owned(type)} AND ${type.columns[field]} = parent.id
       ORDER BY created_at DESC, id DESC LIMIT ${limit(first)}
     ) AS child ORDER BY "createdAt" DESC, id DESC`,
    [actor.organizationId, ids],
  );
  const lists = new Map(ids.map((id) => [id, []]));
  for (const row of rows) lists.get(row[field]).push(row);
  return new Map(ids.map((id) => [id, connection(lists.get(id), first)]));
}

// refusal returns an error with one of Slipway's codes.
export function refusal(code, message) {
  return new GraphQLError(message, { extensions: { code } });
}

// A list is sorted by these, and its cursors have them.
const keys = ['createdAt', 'id'];

// columnsOf returns the list of a SELECT for fields and those that are needed anyway.
function columnsOf(type, fields, needed = ['id']) {
  const read = new Set(needed);
  for (const field of fields) {
    const own = type.references?.[field] ?? field;
    if (own in type.columns) read.add(own);
  }
  return [...read].map((field) => `${type.columns[field]} AS "${field}"`).join(', ');
}

function owned(type) {
  return type.shared ? '(organization_id = $1 OR organization_id IS NULL)' : 'organization_id = $1';
}

// source returns what a page is read from. An organization's records and everybody's are each read along an index and
// merged; with OR, all of them would be read and sorted.
function source(type, where) {
  if (!type.shared) return `${type.table} WHERE organization_id = $1${where}`;
  const half = (owner) => `SELECT * FROM ${type.table} WHERE organization_id ${owner}${where}`;
  return `(${half('= $1')} UNION ALL ${half('IS NULL')}) AS ${type.table}`;
}

// limit returns one row more than a page has, which shows whether there is a next page.
function limit(first) {
  if (first >= 1 && first <= 100) return first + 1;
  throw refusal('slipway:Request:INVALID', `first must be 1 to 100, got ${first}.`);
}

function connection(rows, first) {
  const nodes = rows.slice(0, first);
  const edges = nodes.map((node) => ({ cursor: writeCursor(node), node }));
  return { edges, nodes, pageInfo: { hasNextPage: rows.length > first, endCursor: edges.at(-1)?.cursor ?? null } };
}

function writeCursor({ createdAt, id }) {
  return Buffer.from(`${createdAt} ${id}`).toString('base64url');
}

function readCursor(cursor) {
  const parts = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z) (\w+)$/.exec(Buffer.from(cursor, 'base64url').toString());
  if (!parts) throw refusal('slipway:Request:CURSOR_INVALID', 'after is not a cursor of this list.');
  return parts.slice(1);
}
