// Compares the answers of peers with Slipway's, and the rows of a rollback.
//
//   node check.mjs [NAME ...]
//
// DATABASE_URL   the database of both; where a peer has a setup, that was run before
// SLIPWAY_URL    a Slipway on it, whose deployments nobody carries out
// TOKEN          of an admin
// FOREIGN_TOKEN  of another organization
//
// It ends with 1 and the difference where there is one. What it leaves behind are canceled deployments, lifted quarantines
// and revoked tokens.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const { DATABASE_URL, SLIPWAY_URL, TOKEN, FOREIGN_TOKEN } = process.env;
const startTime = 120_000; // milliseconds, the longest that a peer may take to answer

const here = (path) => new URL(path, import.meta.url);
const documents = (folder) => {
  const texts = Object.fromEntries([...'ABCDMS'].map((name) => [name, readFileSync(here(`${folder}/${name}.graphql`), 'utf8')]));
  // C with pages of which an environment has several.
  return { ...texts, 'C in pages': texts.C.replace('first: 50', 'first: 7') };
};
const reference = { url: `${SLIPWAY_URL}/graphql`, documents: documents('../requests') };
const database = new pg.Client({ connectionString: DATABASE_URL, options: '-c app.isolation=filter' });

// ask returns the data of a document's answer, which must have no errors.
async function ask({ url, documents }, name, variables = {}) {
  const { status, body } = await post(url, documents[name] ?? name, variables);
  assert.deepEqual({ status, errors: body.errors }, { status: 200, errors: undefined }, `${url} to ${name.slice(0, 80)} ${JSON.stringify(variables)}`);
  return body.data;
}

async function post(url, query, variables, token = TOKEN) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
    body: JSON.stringify({ query, variables }),
  });
  return { status: response.status, body: await response.json() };
}

// comparable returns an answer without what may differ: the texts of cursors, and how an instant is written.
function comparable(answer) {
  return JSON.parse(JSON.stringify(answer), (key, value) => {
    if (value && (key === 'cursor' || key === 'endCursor')) return 'a cursor';
    if (typeof value === 'string' && key.endsWith('At')) return value.replace(/(\.\d*?)0*(Z|\+00:00)$/, '$1Z').replace('.Z', 'Z').replace('+00:00', 'Z');
    return value;
  });
}

// compareReads compares what A, B, C, D and S answer for the newest deployments, and all pages of lists.
async function compareReads(peer) {
  const { deployments } = await ask(reference, '{ deployments(first: 100) { nodes { id projectId environmentId moduleInstanceId } } }');
  const counts = {};
  const compare = async (name, variables, own = variables) => {
    const [want, got] = await Promise.all([ask(reference, name, variables), ask(peer, name, own)]);
    assert.deepEqual(comparable(got), comparable(want), `${name} ${JSON.stringify(variables)}`);
    counts[name] = (counts[name] ?? 0) + 1;
    return [want, got];
  };
  const instances = new Set();
  const environments = new Set();
  await compare('D', {});
  for (const { id, projectId, environmentId, moduleInstanceId: instanceId } of deployments.nodes) {
    await compare('A', { id });
    await compare('B', { id });
    if (!instances.has(instanceId)) await compare('S', { projectId, environmentId, instanceId });
    instances.add(instanceId);
    if (!environments.has(environmentId)) await compare('C', { environmentId });
    for (let after = [], more = !environments.has(environmentId); more;) {
      const pages = await compare('C in pages', { environmentId, after: after[0] }, { environmentId, after: after[1] });
      after = pages.map(({ deployments: { pageInfo } }) => pageInfo.endCursor);
      more = pages[0].deployments.pageInfo.hasNextPage;
    }
    environments.add(environmentId);
  }
  return counts;
}

// checkTenancy checks that nobody sees a deployment without a good token of its organization.
async function checkTenancy(peer) {
  const { deployments: { nodes: [{ id }] } } = await ask(reference, '{ deployments(first: 1) { nodes { id } } }');
  for (const [token, seen] of [[FOREIGN_TOKEN, false], [TOKEN, true], [FOREIGN_TOKEN, false]]) {
    const { status, body } = await post(peer.url, peer.documents.A, { id }, token);
    assert.deepEqual({ status, seen: body.data?.deployment != null }, { status: 200, seen }, 'the deployment of another organization');
  }
  for (const token of ['', `${TOKEN}x`]) assert.equal((await post(peer.url, '{ __typename }', {}, token)).status, 401, 'without a good token');
  assert.equal(await refusal(peer, FOREIGN_TOKEN, id), 'slipway:Deployment:NOT_FOUND');
}

// refusal returns the code of the error of a rollback that is refused.
async function refusal(peer, token, id) {
  const { body } = await post(peer.url, peer.documents.M, { id }, token);
  assert.equal(body.data?.rollbackDeployment ?? null, null, `the rollback to ${id} was not refused`);
  return body.errors[0].extensions.code;
}

// checkPermissions checks that only developers and admins may roll back, and only within the scope of their token.
async function checkPermissions(peer) {
  const { deployments: { nodes: [{ id, environmentId }] } } = await ask(reference, '{ deployments(filter: { status: SUCCEEDED }, first: 1) { nodes { id environmentId } } }');
  const { environments } = await ask(reference, '{ environments(first: 100) { nodes { id } } }');
  const elsewhere = environments.nodes.map((e) => e.id).filter((other) => other !== environmentId);
  for (const input of [{ role: 'VIEWER' }, { role: 'RUNNER' }, { role: 'DEVELOPER', environments: elsewhere }]) {
    const { createToken: { secret, token } } = await ask(reference, createToken, { input: { name: 'check', ...input } });
    assert.equal(await refusal(peer, secret, id), 'slipway:Deployment:FORBIDDEN', JSON.stringify(input));
    await ask(reference, 'mutation ($id: ID!) { revokeToken(input: { id: $id }) { token { id } } }', { id: token.id });
  }
}

const createToken = 'mutation ($input: CreateTokenInput!) { createToken(input: $input) { secret token { id } } }';

// compareRollbacks compares a rollback of Slipway's with the peer's to the same target, for each type of deployments:
// the answers, the rows, what Slipway tells of them, and what is refused.
async function compareRollbacks(peer) {
  const { deployments: { nodes } } = await ask(reference, `{ deployments(filter: { status: SUCCEEDED }, first: 100) { nodes { id deploymentType rollbackEligibility { allowed } } } }`);
  const targets = new Map(nodes.filter((d) => d.rollbackEligibility.allowed).map((d) => [d.deploymentType, d.id]));
  assert.notEqual(targets.size, 0, 'nothing can be rolled back to');
  for (const id of targets.values()) {
    const [want, got] = [await rollBack(reference, id), await rollBack(peer, id)];
    assert.deepEqual(comparable(got), comparable(want), `M to ${id}`);
    const { release } = got.served.deployment;
    await ask(reference, 'mutation ($id: ID!) { quarantineRelease(input: { id: $id, reason: "check" }) { __typename } }', { id: release.id });
    assert.equal(await refusal(peer, TOKEN, id), 'slipway:Release:QUARANTINED');
    await ask(reference, 'mutation ($id: ID!) { liftQuarantine(input: { id: $id }) { __typename } }', { id: release.id });
  }
  const { deployments: { nodes: [failed] } } = await ask(reference, `{ deployments(filter: { status: FAILED }, first: 1) { nodes { id } } }`);
  if (failed) assert.equal(await refusal(peer, TOKEN, failed.id), 'slipway:Deployment:TARGET_NOT_SUCCEEDED');
  return { M: targets.size };
}

// rollBack makes a rollback and returns all that is known of it, with the word "new" for what is new, and cancels it.
async function rollBack(server, target) {
  const asked = Date.now();
  const { rollbackDeployment: { deployment: answer } } = await ask(server, 'M', { id: target });
  const { id, createdAt } = answer;
  assert.match(id, /^dep_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
  assert.ok(Math.abs(Date.parse(createdAt) - asked) < 60_000, `created at ${createdAt}`);
  const known = {
    answer,
    served: await ask(reference, served, { id }),
    rows: await rowsOf(id),
    refused: await refusal(server, TOKEN, target),
    rowsAfterRefusal: await rowsOf(id),
  };
  await ask(reference, 'mutation ($id: ID!) { cancelDeployment(input: { id: $id }) { deployment { status } } }', { id });
  const fresh = new Set(['createdAt', 'updatedAt', 'created_at', 'updated_at', 'xid', 'request_id']);
  return JSON.parse(JSON.stringify(known).replaceAll(id, 'new'), (key, value) => {
    if (fresh.has(key) && value != null) return 'new';
    return key === 'id' && (typeof value === 'number' || value.startsWith?.('aud_')) ? 'new' : value;
  });
}

// What Slipway tells of a deployment, through everything that reads what a rollback has written.
const served = `query ($id: ID!) {
  deployment(id: $id) {
    id organizationId projectId environmentId moduleInstanceId createdAt updatedAt deploymentType triggerSource status description
    startedAt completedAt externalDeploymentId pipelineRunId stepExecutionId resourceArn resourceName createdBy version
    data { __typename } dataJson release { id digest inputs artifact } rollbackTo { id } redeployOf { id } lineage { id }
    rollbackEligibility { allowed code } redeployEligibility { allowed code }
  }
}`;

async function rowsOf(id) {
  const rows = {};
  for (const [table, column] of [['deployments', 'id'], ['deployment_changes', 'deployment_id'], ['audit_events', 'object_id']]) {
    rows[table] = (await database.query(`SELECT to_json(t) AS row FROM ${table} AS t WHERE ${column} = $1`, [id])).rows.map(({ row }) => row);
  }
  return rows;
}

// withPeer runs f with a peer that it starts, and ends it.
async function withPeer({ command: [program, ...args], requests = '../requests' }, workers, f) {
  const port = await freePort();
  const child = spawn(program, args, {
    cwd: here('.'),
    env: { ...process.env, PORT: port, WORKERS: workers, CONNECTIONS: 16 },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr.on('data', (text) => (log += text));
  const ended = once(child, 'exit');
  try {
    const url = `http://127.0.0.1:${port}/graphql`;
    await ready(url, child);
    return await f({ url, documents: documents(requests) });
  } catch (error) {
    error.message += `\n\n${log.slice(-4000)}`;
    throw error;
  } finally {
    child.kill('SIGTERM');
    await ended;
    await assert.rejects(fetch(`http://127.0.0.1:${port}/graphql`), 'it still answers after SIGTERM');
  }
}

async function ready(url, child) {
  for (const end = Date.now() + startTime; ; await sleep(100)) {
    const answer = await post(url, '{ __typename }', {}).catch(() => null);
    if (answer?.status === 200) return;
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
    if (Date.now() > end) throw new Error(`it does not answer within ${startTime} ms, last with ${JSON.stringify(answer)}`);
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

for (const name of ['DATABASE_URL', 'SLIPWAY_URL', 'TOKEN', 'FOREIGN_TOKEN']) {
  if (!process.env[name]) {
    console.error(`check: ${name} is not set; see the top of check.mjs`);
    process.exit(2);
  }
}
const names = process.argv.slice(2);
const peers = JSON.parse(readFileSync(here('peers.json'), 'utf8')).filter(({ name }) => names.length === 0 || names.includes(name));
let differences = 0;
await database.connect();
for (const peer of peers) {
  for (const workers of peer.workers) {
    try {
      const counts = await withPeer(peer, workers, async (server) => {
        await checkTenancy(server);
        await checkPermissions(server);
        return { ...(await compareReads(server)), ...(await compareRollbacks(server)) };
      });
      console.log(`${peer.name}, ${workers} workers: equal, ${Object.entries(counts).map(([name, count]) => `${count} ${name}`).join(', ')}`);
    } catch (error) {
      differences++;
      console.log(`${peer.name}, ${workers} workers: ${error.message}`);
    }
  }
}
await database.end();
process.exit(differences > 0 || peers.length === 0 ? 1 : 0);
