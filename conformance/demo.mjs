// The demo that run.sh has started, and the deployment of it that tests follow.
import assert from 'node:assert/strict';
import { getIntrospectionQuery } from 'graphql';
import { WebSocket } from 'ws';

// Browsers have one, and so has Node 22.
globalThis.WebSocket ??= WebSocket;

function given(name) {
  assert.ok(process.env[name], `${name} is not set: run the tests by run.sh`);
  return process.env[name];
}

export const endpoint = new URL('/graphql', given('SLIPWAY_SERVER')).href;
export const socket = endpoint.replace(/^http/, 'ws');

const bearer = (token) => ({ Authorization: `Bearer ${token}` });
export const adminToken = given('SLIPWAY_ADMIN');
export const admin = bearer(adminToken);
export const runner = bearer(given('SLIPWAY_RUNNER'));

// narrow is a demo that refuses what costs more than 20.
export const narrow = {
  endpoint: new URL('/graphql', given('SLIPWAY_NARROW_URL')).href,
  admin: bearer(given('SLIPWAY_NARROW_ADMIN')),
};

export const wrong = bearer('slp_admin_00000000000000000000000000000000000000000');

// unknown is an id of the right form that names nothing.
export const unknown = 'dep_01h455vb4pex5vsknk084sn02q';

// follow asks for what followed reads.
export const follow = 'subscription Follow($id: ID!) { deploymentChanged(id: $id) { deployment { id status } } }';
export const followed = (data) => data.deploymentChanged.deployment;

// run gives the data of an operation over plain HTTP, which must not fail.
export async function run(query, variables, authorization = admin) {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { ...authorization, 'Content-Type': 'application/json', Accept: 'application/graphql-response+json' },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = await response.json();
  assert.equal(errors, undefined, JSON.stringify(errors));
  return data;
}

export const introspection = await run(getIntrospectionQuery({ specifiedByUrl: true, directiveIsRepeatable: true, schemaDescription: true, inputValueDeprecation: true, oneOf: true }));

// sent gives the list that the requests of the test from now on are added to.
export function sent(t) {
  const requests = [];
  const { fetch } = globalThis;
  t.mock.method(globalThis, 'fetch', (url, options) => {
    requests.push({ url, method: options.method, body: options.body && JSON.parse(options.body) });
    return fetch(url, options);
  });
  return requests;
}

// status gives where a deployment stands, as the server has it.
export async function status(id) {
  const { deployment } = await run('query($id: ID!) { deployment(id: $id) { status } }', { id });
  return deployment.status;
}

export const rollBackMutation = 'mutation RollBack($id: ID!) { rollbackDeployment(input: { id: $id }) { deployment { id } } }';
export const cancelMutation = 'mutation Cancel($id: ID!) { cancelDeployment(input: { id: $id }) { deployment { id status } } }';
export const target = given('SLIPWAY_ROLLBACK_TARGET');

// rollBack begins a deployment, which is PENDING, and gives its id. It ends with the test.
export async function rollBack(t) {
  const { rollbackDeployment } = await run(rollBackMutation, { id: target });
  const { id } = rollbackDeployment.deployment;
  t.after(async () => {
    if (['PENDING', 'RUNNING'].includes(await status(id))) await cancel(id);
  });
  return id;
}

export const cancel = (id) => run(cancelMutation, { id });

// claim sets the deployment RUNNING, after all that wait longer, and gives its lease.
export async function claim(id) {
  for (;;) {
    const { claimDeployment } = await run(
      'mutation { claimDeployment(input: { deploymentTypes: ["aws:ecs", "terraform"] }) { deployment { id } lease { id } } }', {}, runner);
    assert.ok(claimDeployment.deployment, `${id} does not wait for a runner`);
    if (claimDeployment.deployment.id === id) return claimDeployment.lease.id;
  }
}

export const complete = (id, leaseId) => run(
  'mutation($id: ID!, $leaseId: ID!) { completeDeployment(input: { id: $id, leaseId: $leaseId }) { deployment { status } } }',
  { id, leaseId }, runner);

// carriedOut follows a deployment by an iterator of results while it is claimed and completed, and
// gives the statuses that it has been seen in.
export function carriedOut(id, results) {
  let lease;
  return driven(results, {
    PENDING: async () => { lease = await claim(id); },
    RUNNING: () => complete(id, lease),
  });
}

// canceled does the same while the deployment is canceled.
export const canceled = (id, results) => driven(results, { PENDING: () => cancel(id) });

// driven gives the statuses that results tell of, until they end, and answers each with its step.
async function driven(results, steps) {
  const statuses = [];
  for await (const { data, errors } of results) {
    assert.equal(errors, undefined, JSON.stringify(errors));
    const { status } = followed(data);
    statuses.push(status);
    await steps[status]?.();
  }
  return statuses;
}

// codes gives the codes of the errors that an operation ends with, whether they come as a result or
// as the client's own failure.
export async function codes(results) {
  let errors = [];
  try {
    for await (const result of results) {
      assert.equal(result.data ?? null, null, JSON.stringify(result));
      errors.push(...(result.errors ?? []));
    }
  } catch (failure) {
    errors = failure.response ? (await failure.response.json()).errors : failure;
  }
  assert.ok(Array.isArray(errors) && errors.length > 0, `no GraphQL errors: ${errors}`);
  return errors.map(({ extensions }) => extensions.code);
}

// told makes a stream of what an observable tells, for as long as it is read.
export function told(observable) {
  let subscription;
  return new ReadableStream({
    start(stream) {
      subscription = observable.subscribe({
        next: (result) => stream.enqueue(result),
        error: (error) => stream.error(error),
        complete: () => stream.close(),
      });
    },
    cancel: () => subscription.unsubscribe(),
  });
}
