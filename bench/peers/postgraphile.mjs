import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { postgraphile } from 'postgraphile';
import { TYPES } from 'postgraphile/@dataplan/pg';
import { makePgService } from 'postgraphile/adaptors/pg';
import { context, lambda, object } from 'postgraphile/grafast';
import { GraphQLError } from 'postgraphile/graphql';
import { defaultMaskError } from 'postgraphile/grafserv';
import { grafserv } from 'postgraphile/grafserv/node';
import { sql } from 'postgraphile/pg-sql2';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';
import { extendSchema, gql, pgSmartTags } from 'postgraphile/utils';
import { authenticate, unauthenticated } from './authentication.mjs';
import { pool } from './database.mjs';

// PostGraphile is made for Node.js 22, which has this; with it, Node.js 20 does as well.
Promise.withResolvers ??= function withResolvers() {
  const parts = {};
  parts.promise = new this((resolve, reject) => Object.assign(parts, { resolve, reject }));
  return parts;
};

const actor = () => context().get('actor');

// The column of each table of the schema that has the organization. Other tables and all functions are hidden; below,
// the schema is given the one that it needs.
const owners = {
  deployments: 'organization_id',
  environments: 'organization_id',
  module_definitions: 'organization_id',
  module_instances: 'organization_id',
  organizations: 'id',
  projects: 'organization_id',
};
const hidden = [
  pgSmartTags({ kind: 'class', match: ({ relname }) => !(relname in owners), tags: { behavior: '-*' } }),
  pgSmartTags({ kind: 'procedure', match: () => true, tags: { behavior: '-*' } }),
  pgSmartTags({ kind: 'attribute', match: ({ attname }) => attname === 'lease_id', tags: { behavior: '-*' } }), // a secret
];

// tenancy adds the organization to the conditions of every SELECT from a table. Module definitions without one are
// everybody's.
const tenancy = {
  name: 'TenancyPlugin',
  gather: {
    hooks: {
      pgTables_PgResourceOptions(info, { pgClass: { relname }, resourceOptions }) {
        if (!(relname in owners)) return;
        resourceOptions.selectAuth = ($select) => {
          const owner = sql`${$select.alias}.${sql.identifier(owners[relname])}`;
          const own = sql`${owner} = ${$select.placeholder(actor().get('organizationId'), TYPES.text)}`;
          $select.where(relname === 'module_definitions' ? sql`(${own} OR ${owner} IS NULL)` : own);
        };
      },
      // A function sees to it itself.
      pgProcedures_functionResourceOptions(info, { functionResourceOptions }) {
        functionResourceOptions.selectAuth = null;
      },
    },
  },
};

const extension = extendSchema(({ pgResources }) => ({
  typeDefs: gql`
    extend type Query {
      viewer: Viewer
    }
    type Viewer {
      name: String!
      role: String!
      organization: Organization
    }
    extend type Mutation {
      rollbackDeployment(input: RollbackDeploymentInput!): RollbackDeploymentPayload
    }
    input RollbackDeploymentInput {
      id: ID!
    }
    type RollbackDeploymentPayload {
      deployment: Deployment
    }
  `,
  objects: {
    Query: {
      plans: { viewer: () => object({ actor: actor() }) },
    },
    Viewer: {
      plans: {
        name: ($viewer) => $viewer.get('actor').get('name'),
        role: ($viewer) => lambda($viewer.get('actor').get('role'), (role) => role.toUpperCase(), true),
        organization: ($viewer) => pgResources.organizations.get({ id: $viewer.get('actor').get('organizationId') }),
      },
    },
    Mutation: {
      plans: {
        rollbackDeployment(_, { $input }) {
          const argument = (step, pgCodec = TYPES.text) => ({ step, pgCodec });
          const $deployment = pgResources.peer_rollback.execute([
            argument($input.get('id')),
            argument(actor().get('organizationId')),
            argument(actor().get('id')),
            argument(actor().get('name')),
            argument(actor().get('role')),
            argument(actor().get('scope'), TYPES.json),
            argument(context().get('requestId')),
          ], 'mutation');
          return object({ deployment: $deployment });
        },
      },
    },
    RollbackDeploymentPayload: {
      plans: { deployment: ($payload) => $payload.get('deployment') },
    },
  },
}));

// maskError shows why a rollback is refused, which is an error that the function has raised.
function maskError(error) {
  const { originalError: raised, nodes, path } = error;
  if (raised?.code !== 'P0001') return defaultMaskError(error);
  return new GraphQLError(raised.message, { nodes, path, originalError: raised, extensions: { code: raised.detail } });
}

const instance = postgraphile({
  extends: [PostGraphileAmberPreset],
  plugins: [...hidden, tenancy, extension],
  // No mutations of tables, no ids of Relay's; and conditions on columns that no index begins with, for all of
  // Slipway's begin with the organization.
  disablePlugins: ['PgMutationCreatePlugin', 'PgMutationUpdateDeletePlugin', 'NodePlugin', 'PgIndexBehaviorsPlugin'],
  pgServices: [makePgService({ pool, schemas: ['public'], pubsub: false })],
  grafserv: { maskError, graphiql: false, websockets: false, watch: false, outputDataAsString: true },
  grafast: { context: ({ node: { req } }) => ({ actor: req.actor, requestId: randomUUID() }) },
});
await instance.getSchema(); // fails here where it cannot be made
const handle = await instance.createServ(grafserv).createHandler();
const server = createServer(async (request, response) => {
  const answer = (status, body) => response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  try {
    request.actor = await authenticate(request.headers.authorization);
    if (!request.actor) return answer(401, unauthenticated);
  } catch (error) {
    console.error(error);
    return answer(500, { errors: [{ message: 'The token cannot be looked up.' }] });
  }
  handle(request, response);
});

export const listen = (address) => server.listen(address);
