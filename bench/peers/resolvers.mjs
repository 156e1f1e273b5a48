// The schema and its data, shared by the servers that take resolvers. A context has the actor.

import { readFileSync } from 'node:fs';
import { query } from './database.mjs';
import {
  Deployment, Environment, ModuleDefinition, ModuleInstance, Project,
  findMany, findOne, findPage, findPages, pageFields,
} from './records.mjs';
import { rollback } from './rollback.mjs';
import { selection } from './selection.mjs';

export const schema = readFileSync(new URL('schema.graphql', import.meta.url), 'utf8');

export const resolvers = {
  Query: {
    viewer: (_, args, { actor }) => ({ id: actor.id, name: actor.name, role: actor.role.toUpperCase() }),
    deployment: (_, { id }, { actor }, info) => findOne(Deployment, id, actor, info),
    deployments: (_, { filter, ...page }, { actor }, info) => findPage(Deployment, { ...filter }, page, actor, info),
    moduleDefinitions: (_, page, { actor }, info) => findPage(ModuleDefinition, {}, page, actor, info),
    moduleInstance: (_, { id }, { actor }, info) => findOne(ModuleInstance, id, actor, info),
    moduleInstances: (_, { filter, ...page }, { actor }, info) => findPage(ModuleInstance, { ...filter }, page, actor, info),
    project: (_, { id }, { actor }, info) => findOne(Project, id, actor, info),
    environments: (_, { projectId, ...page }, { actor }, info) => findPage(Environment, { projectId }, page, actor, info),
  },
  Mutation: {
    rollbackDeployment: async (_, { input }, { actor, requestId }) => ({ deployment: await rollback(input.id, actor, requestId) }),
  },
};

// loaders answer a field for all objects of a request at once: loader(queries, context) returns the values of queries,
// each { obj, params, info }, in their order.
export const loaders = {
  Viewer: {
    async organization(queries, { actor }) {
      const [organization] = await query('SELECT id, name, slug FROM organizations WHERE id = $1', [actor.organizationId]);
      return queries.map(() => organization);
    },
  },
  Deployment: references(Deployment, { moduleInstance: ModuleInstance, rollbackTo: Deployment }),
  ModuleInstance: {
    ...references(ModuleInstance, { environment: Environment, moduleDefinition: ModuleDefinition, liveDeployment: Deployment }),
    async deployments(queries, { actor }) {
      const ids = [...new Set(queries.map(({ obj }) => obj.id))];
      const pages = new Map();
      for (const first of new Set(queries.map(({ params }) => params.first))) {
        pages.set(first, await findPages(Deployment, 'moduleInstanceId', ids, first, actor, fieldsOf(queries, pageFields)));
      }
      return queries.map(({ obj, params }) => pages.get(params.first).get(obj.id));
    },
  },
};

// references returns the loaders of a type's fields that each lead to one record.
function references(type, targets) {
  const loader = ([field, target]) => [field, async (queries, { actor }) => {
    const id = type.references[field];
    const ids = [...new Set(queries.map(({ obj }) => obj[id]))].filter((found) => found != null);
    const fields = fieldsOf(queries, (nodes, fragments) => selection(nodes, fragments, [[]]));
    if (ids.length === 0) return queries.map(() => null);
    // A foreign key refers to what there is.
    if (fields.every((name) => name === 'id' || name === '__typename')) return queries.map(({ obj }) => obj[id] && { id: obj[id] });
    const found = new Map((await findMany(target, ids, actor, fields)).map((row) => [row.id, row]));
    return queries.map(({ obj }) => found.get(obj[id]) ?? null);
  }];
  return Object.fromEntries(Object.entries(targets).map(loader));
}

// fieldsOf returns what select finds at all places of the document where the queries come from.
function fieldsOf(queries, select) {
  const nodes = new Set();
  for (const { info } of queries) for (const node of info.fieldNodes) nodes.add(node);
  return select([...nodes], queries[0].info.fragments);
}
