// The endpoint by urql, a client for applications: queries and mutations over POST and GET,
// subscriptions over server-sent events and over WebSocket.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { admin, canceled, cancelMutation, carriedOut, endpoint, follow, rollBack, rollBackMutation, socket, target, unknown, wrong } from '../demo.mjs';

const connect = (headers = admin, options = {}) =>
  new Client({ url: endpoint, fetchOptions: { headers }, preferGetMethod: false, exchanges: [fetchExchange], ...options });

const viewer = 'query Viewer { viewer { role } }';

test('a query is answered, over POST and over GET', async () => {
  for (const preferGetMethod of [false, 'force']) {
    const { data, error } = await connect(admin, { preferGetMethod }).query(viewer, {}).toPromise();
    assert.equal(error, undefined);
    assert.deepEqual(data, { viewer: { role: 'ADMIN' } });
  }
});

test('a deployment is rolled back to and canceled', async () => {
  const client = connect();
  const begun = await client.mutation(rollBackMutation, { id: target }).toPromise();
  assert.equal(begun.error, undefined);
  const ended = await client.mutation(cancelMutation, { id: begun.data.rollbackDeployment.deployment.id }).toPromise();
  assert.equal(ended.data.cancelDeployment.deployment.status, 'CANCELED');
});

test('errors are the ones of the server, with their codes', async () => {
  const code = async (client, query, variables = {}) => {
    const { error } = await client.query(query, variables).toPromise();
    return error.graphQLErrors.map(({ extensions }) => extensions.code).join();
  };
  const one = 'query One($id: ID!) { deployment(id: $id) { id } }';
  assert.equal(await code(connect(), one, { id: unknown }), 'slipway:Deployment:NOT_FOUND');
  assert.equal(await code(connect(), one), 'slipway:Document:VARIABLES_INVALID');
  assert.equal(await code(connect(), 'query { viewer { rank } }'), 'slipway:Document:VALIDATION_FAILED');
  assert.equal(await code(connect({}), one, { id: target }), 'slipway:Request:UNAUTHENTICATED');
});

test('a wrong token is refused with 401', async () => {
  const { error } = await connect(wrong).query(viewer, {}).toPromise();
  assert.equal(error.response.status, 401);
});

// results makes an iterator of what urql pushes.
async function* results(source) {
  const waiting = [];
  let wake = () => {};
  let ended = false;
  const tell = (change) => { change(); wake(); };
  source.subscribe((result) => tell(() => { waiting.push(result); ended ||= result.hasNext === false; }));
  for (;;) {
    while (waiting.length > 0) {
      const { data, error } = waiting.shift();
      yield { data, errors: error?.graphQLErrors };
    }
    if (ended) return;
    await new Promise((resolve) => { wake = resolve; });
  }
}

test('a deployment is followed over server-sent events', async (t) => {
  const id = await rollBack(t);
  const source = connect(admin, { fetchSubscriptions: true }).subscription(follow, { id });
  assert.deepEqual(changes(await carriedOut(id, results(source))), ['PENDING', 'RUNNING', 'SUCCEEDED']);
});

test('a deployment is followed over WebSocket', async (t) => {
  const id = await rollBack(t);
  const wire = createClient({ url: socket, webSocketImpl: WebSocket, connectionParams: admin, retryAttempts: 0 });
  t.after(() => wire.dispose());
  const forwarded = subscriptionExchange({
    forwardSubscription: ({ query, variables }) => ({
      subscribe: (sink) => ({ unsubscribe: wire.subscribe({ query, variables }, sink) }),
    }),
  });
  const source = connect(admin, { exchanges: [forwarded, fetchExchange] }).subscription(follow, { id });
  assert.deepEqual(changes(await canceled(id, results(source))), ['PENDING', 'CANCELED']);
});

// changes leaves out what repeats: urql tells the last result again when it ends.
function changes(statuses) {
  return statuses.filter((status, i) => status !== statuses[i - 1]);
}
