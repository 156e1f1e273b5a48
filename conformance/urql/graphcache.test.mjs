// The endpoint by urql with its normalized cache: pages, optimistic changes, subscriptions and errors.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gql } from '@urql/core';
import {
  adminToken, canceled, cancelMutation, carriedOut, endpoint, follow, introspection, rollBack, sent, target, told, unknown,
} from '../demo.mjs';
import { makeClient } from './client.mjs';

// connect gives a client that fails the test where its cache warns.
function connect(t, options = {}) {
  const warnings = [];
  const logger = (level, message) => { if (level !== 'debug') warnings.push(message); };
  const { client, stop } = makeClient({ url: endpoint, token: adminToken, introspection, logger, ...options });
  t.after(() => {
    stop();
    assert.deepEqual(warnings, []);
  });
  return client;
}

// pushes makes urql's source an observable.
const pushes = (source) => ({ subscribe: ({ next }) => source.subscribe(next) });

// watch gives the results of a query, anew after each change of what it shows.
function watch(t, client, query, variables = {}) {
  const results = told(pushes(client.query(query, variables))).getReader();
  t.after(() => results.cancel());
  return {
    async shows(holds) {
      for (;;) {
        const { value: { data, error } } = await results.read();
        assert.equal(error, undefined);
        if (data && holds(data)) return data;
      }
    },
  };
}

const ids = ({ edges }) => edges.map(({ node }) => node.id);

const list = gql`query List($filter: DeploymentFilter, $after: String) {
  deployments(filter: $filter, first: 5, after: $after) {
    edges { node { id status } }
    nodes { id }
    pageInfo { hasNextPage endCursor }
    totalCount
  }
}`;

const newestIs = (id, status) => ({ deployments: { edges: [{ node }] } }) => node.id === id && node.status === status;

test('pages of a list come together in the cache, by filter', async (t) => {
  const client = connect(t);
  const filter = { statuses: 'SUCCEEDED' };
  let after;
  let together;
  for (const held of [5, 10, 15]) {
    const { data, error } = await client.query(list, { filter, after }).toPromise();
    assert.equal(error, undefined);
    together = ids(data.deployments);
    assert.equal(new Set(together).size, held);
    assert.deepEqual(data.deployments.nodes.map(({ id }) => id), together);
    assert.equal(data.deployments.pageInfo.hasNextPage, true);
    after = data.deployments.pageInfo.endCursor;
  }
  const requests = sent(t);
  const kept = await client.query(list, { filter, after: undefined }).toPromise();
  assert.deepEqual(ids(kept.data.deployments), together);
  assert.equal(requests.length, 0, 'what is in the cache is not asked for');

  const { data } = await client.query(list, { filter: { statuses: 'FAILED' } }).toPromise();
  assert.ok(data.deployments.edges.every(({ node }) => node.status === 'FAILED'));
});

test('a record is one in the cache, and shows at once what a mutation is expected to do', async (t) => {
  const id = await rollBack(t);
  const client = connect(t);
  const seen = watch(t, client, list);
  await seen.shows(newestIs(id, 'PENDING'));

  const { fetch } = globalThis;
  let release;
  const released = new Promise((resolve) => { release = resolve; });
  t.mock.method(globalThis, 'fetch', async (...request) => {
    await released;
    return fetch(...request);
  });
  const answer = client.mutation(cancelMutation, { id }).toPromise();
  await seen.shows(newestIs(id, 'CANCELED'));
  release();
  assert.equal((await answer).data.cancelDeployment.deployment.status, 'CANCELED');
});

test('what was expected of a mutation is taken back where it is refused', async (t) => {
  const client = connect(t);
  const seen = watch(t, client, 'query One($id: ID!) { deployment(id: $id) { id status } }', { id: target });
  await seen.shows(({ deployment }) => deployment.status === 'SUCCEEDED');
  const answer = client.mutation(cancelMutation, { id: target }).toPromise();
  await seen.shows(({ deployment }) => deployment.status === 'CANCELED');
  await seen.shows(({ deployment }) => deployment.status === 'SUCCEEDED');
  const { data, error } = await answer;
  assert.equal(data.cancelDeployment, null);
  assert.deepEqual(error.graphQLErrors.map(({ extensions }) => extensions.code), ['slipway:Deployment:WRONG_STATE']);
});

test('inputs of one id stay apart, and a fragment on their interface holds for each of them', async (t) => {
  const client = connect(t);
  const query = gql`query Inputs {
    moduleDefinitions(first: 50) {
      nodes { id latestModuleVersion { id inputs {
        ...Head
        ... on NumberProperty { min max }
        ... on CompoundProperty { values { ... on StaticValues { options { value label } } ... on DynamicValuesRef { source } } }
        ... on ObjectMapProperty { itemInputs { ...Head } key { separator } }
      } inputsJson } }
    }
  }
  fragment Head on InputPropertyBase { id label type description }`;
  const { error } = await client.query(query, {}).toPromise();
  assert.equal(error, undefined);
  const { data } = await client.query(query, {}, { requestPolicy: 'cache-only' }).toPromise();
  const times = new Map();
  for (const { latestModuleVersion: version } of data.moduleDefinitions.nodes) {
    version?.inputs.forEach((input, at) => {
      const written = version.inputsJson[at];
      assert.deepEqual([input.id, input.label, input.type, input.description ?? undefined],
        [written.id, written.label, written.type, written.description]);
      times.set(input.__typename + input.id, (times.get(input.__typename + input.id) ?? 0) + 1);
    });
  }
  assert.ok([...times.values()].some((count) => count > 1), 'several versions have an input of the same id and variant');
});

for (const webSocket of [false, true]) {
  const wire = webSocket ? 'WebSocket' : 'server-sent events';

  const changes = (client, id) => told({
    subscribe: ({ next, complete }) => client.subscription(follow, { id }).subscribe(({ data, error, hasNext }) => {
      if (hasNext === false) complete();
      else next({ data, errors: error?.graphQLErrors });
    }),
  });

  test(`a deployment is followed over ${wire}, and the lists that show it change with it`, async (t) => {
    const id = await rollBack(t);
    const client = connect(t, { webSocket });
    const seen = watch(t, client, list);
    await seen.shows(newestIs(id, 'PENDING'));
    assert.deepEqual(await carriedOut(id, changes(client, id)), ['PENDING', 'RUNNING', 'SUCCEEDED']);
    await seen.shows(newestIs(id, 'SUCCEEDED'));
    const another = await rollBack(t);
    assert.deepEqual(await canceled(another, changes(client, another)), ['PENDING', 'CANCELED']);
  });
}

test('what is refused leaves its neighbours their answers', async (t) => {
  const { data, error } = await connect(t).query(gql`query Both($found: ID!, $missing: ID!) {
    found: deployment(id: $found) { id status }
    missing: deployment(id: $missing) { id status }
  }`, { found: target, missing: unknown }).toPromise();
  assert.equal(data.found.id, target);
  assert.equal(data.missing, null);
  assert.deepEqual(error.graphQLErrors.map(({ extensions, path }) => [extensions.code, path]), [['slipway:Deployment:NOT_FOUND', ['missing']]]);
});

test('of two mutations the one that is refused leaves the other its answer', async (t) => {
  const id = await rollBack(t);
  const client = connect(t);
  const seen = watch(t, client, list);
  await seen.shows(newestIs(id, 'PENDING'));
  const { data, error } = await client.mutation(gql`mutation Both($id: ID!, $missing: ID!) {
    done: cancelDeployment(input: { id: $id }) { deployment { id status } }
    refused: cancelDeployment(input: { id: $missing }) { deployment { id status } }
  }`, { id, missing: unknown }).toPromise();
  assert.equal(data.done.deployment.status, 'CANCELED');
  assert.equal(data.refused, null);
  assert.deepEqual(error.graphQLErrors.map(({ extensions, path }) => [extensions.code, path]), [['slipway:Deployment:NOT_FOUND', ['refused']]]);
  await seen.shows(newestIs(id, 'CANCELED'));
});
