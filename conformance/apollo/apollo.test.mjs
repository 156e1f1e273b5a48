// The endpoint by Apollo Client: its cache, its pages, its persisted queries, subscriptions and errors.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { CombinedGraphQLErrors, gql } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { filter, firstValueFrom, map } from 'rxjs';
import {
  adminToken, canceled, cancelMutation, carriedOut, endpoint, follow, introspection, rollBack, sent, status, target, told, unknown,
} from '../demo.mjs';
import { makeClient } from './client.mjs';

function connect(t, token = adminToken) {
  const { client, stop } = makeClient({ url: endpoint, token, introspection });
  t.after(stop);
  return client;
}

// watch gives a query that has been answered, and goes on until the test ends.
async function watch(t, client, options) {
  const query = client.watchQuery(options);
  const subscription = query.subscribe({});
  t.after(() => subscription.unsubscribe());
  await shows(query, () => true);
  return query;
}

// shows waits until a watched query shows what holds.
const shows = (query, holds) => firstValueFrom(query.pipe(filter(({ loading, data }) => !loading && holds(data))));

const newestIs = (status) => ({ deployments }) => deployments.edges[0].node.status === status;

const shown = (query) => query.getCurrentResult().data;

const ids = ({ edges }) => edges.map(({ node }) => node.id);

const list = gql`query List($filter: DeploymentFilter, $after: String) {
  deployments(filter: $filter, first: 5, after: $after) {
    edges { node { id status } }
    pageInfo { hasNextPage endCursor }
    totalCount
  }
}`;

test('pages of a list come together in the cache, by filter', async (t) => {
  const client = connect(t);
  const requests = sent(t);
  const watched = await watch(t, client, { query: list, variables: { filter: { statuses: 'SUCCEEDED' } } });
  const { deployments } = shown(watched);
  assert.equal(deployments.edges.length, 5);
  assert.ok(deployments.totalCount > 15);
  for (const held of [10, 15]) {
    const { endCursor, hasNextPage } = shown(watched).deployments.pageInfo;
    assert.equal(hasNextPage, true);
    await watched.fetchMore({ variables: { after: endCursor } });
    await shows(watched, ({ deployments }) => deployments.edges.length === held);
  }
  const together = ids(shown(watched).deployments);
  assert.equal(new Set(together).size, 15);

  const before = requests.length;
  const again = await client.query({ query: list, variables: { filter: { statuses: 'SUCCEEDED' } } });
  assert.deepEqual(ids(again.data.deployments), together);
  assert.equal(requests.length, before, 'what is in the cache is not asked for');

  const failed = await client.query({ query: list, variables: { filter: { statuses: 'FAILED' } } });
  assert.ok(failed.data.deployments.edges.length > 0);
  assert.ok(failed.data.deployments.edges.every(({ node }) => node.status === 'FAILED'));
});

test('the list within a record is one, wherever it was read', async (t) => {
  const client = connect(t);
  const versions = gql`fragment Versions on ModuleDefinition {
    id versions(first: 1, after: $after) { edges { node { id } } pageInfo { hasNextPage endCursor } totalCount }
  }`;
  const all = gql`query All($after: String) { moduleDefinitions { edges { node { ...Versions } } pageInfo { hasNextPage } } } ${versions}`;
  const one = gql`query One($id: ID!, $after: String) { moduleDefinition(id: $id) { ...Versions } } ${versions}`;
  const list = await watch(t, client, { query: all });
  const { id, versions: { totalCount } } = shown(list).moduleDefinitions.edges
    .map(({ node }) => node).find(({ versions }) => versions.totalCount > 2);

  const watched = await watch(t, client, { query: one, variables: { id } });
  const pages = () => shown(watched).moduleDefinition.versions;
  while (pages().pageInfo.hasNextPage) {
    const held = pages().edges.length;
    await watched.fetchMore({ variables: { after: pages().pageInfo.endCursor } });
    await shows(watched, ({ moduleDefinition }) => moduleDefinition.versions.edges.length > held);
  }
  assert.equal(new Set(ids(pages())).size, totalCount);
  const listed = shown(list).moduleDefinitions.edges.find(({ node }) => node.id === id);
  assert.deepEqual(ids(listed.node.versions), ids(pages()));
});

test('a record is one in the cache, by whatever way it was read', async (t) => {
  const client = connect(t);
  const id = await rollBack(t);
  const seen = await watch(t, client, { query: list });
  assert.equal(shown(seen).deployments.edges[0].node.id, id);
  assert.equal(shown(seen).deployments.edges[0].node.status, 'PENDING');

  await client.mutate({ mutation: gql(cancelMutation), variables: { id } });
  await shows(seen, newestIs('CANCELED'));
  assert.deepEqual(client.cache.extract()[`Deployment:${id}`].status, 'CANCELED');
});

const inputs = gql`query Inputs {
  moduleDefinitions(first: 20) {
    edges { node { id latestModuleVersion { id inputs {
      ...Head
      ... on StringProperty { placeholder }
      ... on ObjectMapProperty { itemInputs { ...Head } }
    } inputsJson } } }
    pageInfo { hasNextPage }
  }
}
fragment Head on InputPropertyBase { id label type description }`;

test('inputs of one id stay apart, and a fragment on their interface holds for each of them', async (t) => {
  const client = connect(t);
  await client.query({ query: inputs });
  const { data } = await client.query({ query: inputs, fetchPolicy: 'cache-only' });
  const kept = new Map();
  for (const { node } of data.moduleDefinitions.edges) {
    const version = node.latestModuleVersion;
    version?.inputs.forEach((input, at) => {
      const written = version.inputsJson[at];
      assert.equal(input.label, written.label, `${version.id}/${input.id}`);
      assert.equal(input.description ?? undefined, written.description);
      kept.set(input.__typename + input.id, (kept.get(input.__typename + input.id) ?? 0) + 1);
    });
  }
  assert.ok([...kept.values()].some((times) => times > 1), 'several versions have an input of the same id and variant');
});

for (const useGETForHashedQueries of [false, true]) {
  const method = useGETForHashedQueries ? 'GET' : 'POST';

  test(`a query goes by its hash over ${method} first, and by its text once the server has said that it keeps none`, async (t) => {
    const client = connect(t);
    const sha256 = (text) => createHash('sha256').update(text).digest('hex');
    client.setLink(new PersistedQueryLink({ sha256, useGETForHashedQueries }).concat(client.link));
    const requests = sent(t);
    const { data } = await client.query({ query: gql`query Persisted { viewer { role } }` });
    assert.equal(data.viewer.role, 'ADMIN');
    assert.deepEqual(requests.map(({ method }) => method), [method, 'POST']);
    const [hashed, written] = requests.map(({ url, body }) => body ?? Object.fromEntries(new URL(url).searchParams));
    assert.equal(hashed.query, undefined);
    assert.match(JSON.stringify(hashed.extensions), /sha256Hash/);
    assert.match(written.query, /query Persisted/);

    const next = await client.query({ query: gql`query Next { viewer { name } }` });
    assert.ok(next.data.viewer.name);
    assert.equal(requests.length, 3, 'the second query goes by its text at once');
  });
}

test('a deployment is followed over WebSocket, and the lists that show it change with it', async (t) => {
  const client = connect(t);
  const id = await rollBack(t);
  const seen = await watch(t, client, { query: list });
  const changes = client.subscribe({ query: gql(follow), variables: { id } });
  assert.deepEqual(await carriedOut(id, results(changes)), ['PENDING', 'RUNNING', 'SUCCEEDED']);
  await shows(seen, newestIs('SUCCEEDED'));

  const another = await rollBack(t);
  assert.deepEqual(await canceled(another, results(client.subscribe({ query: gql(follow), variables: { id: another } }))), ['PENDING', 'CANCELED']);
});

// results makes an iterator of what Apollo observes.
const results = (observable) => told(observable.pipe(map(({ data, error }) => ({ data, errors: error?.errors }))));

const codesOf = (error) => {
  assert.ok(CombinedGraphQLErrors.is(error), String(error));
  return error.errors.map(({ extensions }) => extensions.code);
};

test('a subscription that is refused fails with the code', async (t) => {
  const changes = connect(t).subscribe({ query: gql(follow), variables: { id: unknown } });
  const seen = [];
  for await (const { errors } of results(changes)) seen.push(...errors.map(({ extensions }) => extensions.code));
  assert.deepEqual(seen, ['slipway:Deployment:NOT_FOUND']);
});

test('errors are the ones of the server, with their codes', async (t) => {
  const client = connect(t);
  const refused = async (query, variables) => codesOf(await client.query({ query, variables }).then(() => {}, (error) => error));
  const one = gql`query One($id: ID!) { deployment(id: $id) { id } }`;
  assert.deepEqual(await refused(one, { id: unknown }), ['slipway:Deployment:NOT_FOUND']);
  assert.deepEqual(await refused(one, {}), ['slipway:Document:VARIABLES_INVALID']);
  assert.deepEqual(await refused(gql`query Wrong { viewer { rank } }`), ['slipway:Document:VALIDATION_FAILED']);
});

test('a wrong token is refused with 401 and its code', async (t) => {
  const client = connect(t, 'slp_admin_00000000000000000000000000000000000000000');
  const error = await client.query({ query: gql`query Viewer { viewer { role } }` }).then(() => {}, (failure) => failure);
  assert.deepEqual(codesOf(error), ['slipway:Request:UNAUTHENTICATED']);
});

test('what is refused leaves its neighbours their answers', async (t) => {
  const client = connect(t);
  const query = gql`query Both($found: ID!, $missing: ID!) {
    found: deployment(id: $found) { id status }
    missing: deployment(id: $missing) { id status }
    deployments(first: 1) { edges { node { id } } pageInfo { hasNextPage } }
  }`;
  const { data, error } = await client.query({ query, variables: { found: target, missing: unknown }, errorPolicy: 'all' });
  assert.equal(data.found.id, target);
  assert.equal(data.missing, null);
  assert.equal(data.deployments.edges.length, 1);
  assert.deepEqual(codesOf(error), ['slipway:Deployment:NOT_FOUND']);
  assert.deepEqual(error.errors[0].path, ['missing']);
});

test('of two mutations the one that is refused leaves the other its answer', async (t) => {
  const client = connect(t);
  const id = await rollBack(t);
  const seen = await watch(t, client, { query: list });
  const mutation = gql`mutation Both($id: ID!, $missing: ID!) {
    done: cancelDeployment(input: { id: $id }) { deployment { id status } }
    refused: cancelDeployment(input: { id: $missing }) { deployment { id status } }
  }`;
  const { data, error } = await client.mutate({ mutation, variables: { id, missing: unknown }, errorPolicy: 'all' });
  assert.equal(data.done.deployment.status, 'CANCELED');
  assert.equal(data.refused, null);
  assert.deepEqual(codesOf(error), ['slipway:Deployment:NOT_FOUND']);
  assert.deepEqual(error.errors[0].path, ['refused']);
  assert.equal(await status(id), 'CANCELED');
  await shows(seen, newestIs('CANCELED'));
});
