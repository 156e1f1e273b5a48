// The endpoint over WebSocket, by the client of the protocol's authors.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { test } from 'node:test';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { admin, cancel, canceled, carriedOut, claim, codes, complete, endpoint, follow, followed, rollBack, runner, socket, target, unknown, wrong } from './demo.mjs';

const perSocket = 20;

function connect(t, connectionParams = admin, options = {}) {
  const client = createClient({ url: socket, webSocketImpl: WebSocket, connectionParams, retryAttempts: 0, ...options });
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
  const results = connect(t).iterate({ query: follow, variables: { id: target } });
  const told = [];
  for await (const { data } of results) told.push(followed(data));
  assert.deepEqual(told, [{ id: target, status: 'SUCCEEDED' }]);
});

test('a wrong token closes the socket with 4403', async (t) => {
  const results = connect(t, wrong).iterate({ query: '{ viewer { role } }' });
  await assert.rejects(results.next(), { code: 4403 });
});

test('a socket without a token is closed with 4403', async (t) => {
  const results = connect(t, {}).iterate({ query: '{ viewer { role } }' });
  await assert.rejects(results.next(), { code: 4403 });
});

test('an unknown deployment is refused, and the socket goes on', async (t) => {
  const client = connect(t);
  assert.deepEqual(await codes(client.iterate({ query: follow, variables: { id: unknown } })), ['slipway:Deployment:NOT_FOUND']);
  const { value } = await client.iterate({ query: '{ viewer { role } }' }).next();
  assert.deepEqual(value.data, { viewer: { role: 'ADMIN' } });
});

test('an invalid document is refused, and the socket goes on', async (t) => {
  const client = connect(t);
  assert.deepEqual(await codes(client.iterate({ query: '{ viewer { rank } }' })), ['slipway:Document:VALIDATION_FAILED']);
  assert.deepEqual(await codes(client.iterate({ query: '{ viewer {' })), ['slipway:Document:PARSE_FAILED']);
  assert.deepEqual(await codes(client.iterate({ query: follow, variables: { id: null } })), ['slipway:Document:VARIABLES_INVALID']);
  const { value } = await client.iterate({ query: '{ viewer { role } }' }).next();
  assert.deepEqual(value.data, { viewer: { role: 'ADMIN' } });
});

test('a query is answered once and completed', async (t) => {
  const answers = [];
  for await (const answer of connect(t, runner).iterate({ query: '{ viewer { role } }' })) answers.push(answer.data);
  assert.deepEqual(answers, [{ viewer: { role: 'RUNNER' } }]);
});

test('a follower who leaves lets the others go on', async (t) => {
  const id = await rollBack(t);
  const client = connect(t);
  const left = client.iterate({ query: follow, variables: { id } });
  await left.next();
  const stays = client.iterate({ query: follow, variables: { id } });
  await stays.next();
  await left.return();
  await cancel(id);
  const { value } = await stays.next();
  assert.equal(followed(value.data).status, 'CANCELED');
});

test(`a socket carries ${perSocket} subscriptions and refuses one more`, async (t) => {
  const id = await rollBack(t);
  const client = connect(t, admin, { lazy: false });
  const carried = Array.from({ length: perSocket }, () => client.iterate({ query: follow, variables: { id } }));
  for (const { value } of await Promise.all(carried.map((results) => results.next()))) {
    assert.equal(followed(value.data).status, 'PENDING');
  }
  const [code] = await codes(client.iterate({ query: follow, variables: { id } }));
  assert.match(code, /^slipway:/);
  await cancel(id);
  for (const { value } of await Promise.all(carried.map((results) => results.next()))) {
    assert.equal(followed(value.data).status, 'CANCELED');
  }
  await Promise.all(carried.map((results) => results.next()));
  const { value } = await client.iterate({ query: follow, variables: { id } }).next();
  assert.equal(followed(value.data).status, 'CANCELED', 'a socket whose subscriptions have ended takes another');
});

// relay passes bytes on to the server, and can cut every connection that it carries.
async function relay(t) {
  const { hostname, port } = new URL(endpoint);
  const open = new Set();
  const server = net.createServer((near) => {
    const far = net.connect(Number(port), hostname);
    for (const end of [near, far]) {
      open.add(end);
      end.on('error', () => {}).on('close', () => open.delete(end));
    }
    near.pipe(far).pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => open.forEach((end) => end.destroy());
  t.after(() => { server.close(); cut(); });
  return { url: `ws://127.0.0.1:${server.address().port}/graphql`, cut };
}

test('a client that is cut off comes back and sees the end', async (t) => {
  const id = await rollBack(t);
  const { url, cut } = await relay(t);
  const results = connect(t, admin, { url, retryAttempts: 5, retryWait: async () => {} }).iterate({ query: follow, variables: { id } });
  const seen = [followed((await results.next()).value.data).status];
  cut();
  seen.push(followed((await results.next()).value.data).status);
  const lease = await claim(id);
  seen.push(followed((await results.next()).value.data).status);
  await complete(id, lease);
  for await (const { data } of results) seen.push(followed(data).status);
  assert.deepEqual(seen, ['PENDING', 'PENDING', 'RUNNING', 'SUCCEEDED']);
});
