// The endpoint over server-sent events, by the client of the protocol's authors, a connection for each
// operation.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from 'graphql-sse';
import { admin, cancel, canceled, carriedOut, codes, endpoint, follow, followed, rollBack, target, unknown, wrong } from './demo.mjs';

function connect(t, headers = admin) {
  const client = createClient({ url: endpoint, headers, retryAttempts: 0 });
  t.after(() => client.dispose());
  return client;
}

test('a deployment is followed until it is canceled', async (t) => {
  const id = await rollBack(t);
  const results = connect(t).iterate({ query: follow, variables: { id } });
  assert.deepEqual(await canceled(id, results), ['PENDING', 'CANCELED']);
});

test('a deployment is followed through every status that a runner gives it', async (t) => {
  const id = await rollBack(t);
  const results = connect(t).iterate({ query: follow, variables: { id } });
  assert.deepEqual(await carriedOut(id, results), ['PENDING', 'RUNNING', 'SUCCEEDED']);
});

test('a deployment that has ended is told once', async (t) => {
  const told = [];
  for await (const { data } of connect(t).iterate({ query: follow, variables: { id: target } })) told.push(followed(data));
  assert.deepEqual(told, [{ id: target, status: 'SUCCEEDED' }]);
});

test('a wrong token is refused with 401', async (t) => {
  const results = connect(t, wrong).iterate({ query: follow, variables: { id: target } });
  await assert.rejects(results.next(), (failure) => failure.response?.status === 401);
});

test('a caller without a token may not follow', async (t) => {
  const results = connect(t, {}).iterate({ query: follow, variables: { id: target } });
  assert.deepEqual(await codes(results), ['slipway:Request:UNAUTHENTICATED']);
});

test('an unknown deployment is refused', async (t) => {
  const results = connect(t).iterate({ query: follow, variables: { id: unknown } });
  assert.deepEqual(await codes(results), ['slipway:Deployment:NOT_FOUND']);
});

test('invalid documents and variables are refused', async (t) => {
  const client = connect(t);
  assert.deepEqual(await codes(client.iterate({ query: '{ viewer { rank } }' })), ['slipway:Document:VALIDATION_FAILED']);
  assert.deepEqual(await codes(client.iterate({ query: '{ viewer {' })), ['slipway:Document:PARSE_FAILED']);
  assert.deepEqual(await codes(client.iterate({ query: follow, variables: { id: null } })), ['slipway:Document:VARIABLES_INVALID']);
});

test('a query is answered once and completed', async (t) => {
  const answers = [];
  for await (const { data } of connect(t).iterate({ query: '{ viewer { role } }' })) answers.push(data);
  assert.deepEqual(answers, [{ viewer: { role: 'ADMIN' } }]);
});

test('a follower who leaves lets the others go on', async (t) => {
  const id = await rollBack(t);
  const client = connect(t);
  const [left, stays] = [0, 1].map(() => client.iterate({ query: follow, variables: { id } }));
  await Promise.all([left.next(), stays.next()]);
  await left.return();
  await cancel(id);
  const { value } = await stays.next();
  assert.equal(followed(value.data).status, 'CANCELED');
});
