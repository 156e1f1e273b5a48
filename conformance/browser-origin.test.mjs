// The API from pages of other origins in Chromium: one of another port of localhost, which the demo allows, and one
// of another name, which it does not.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { admin, cancel, endpoint, follow, run, socket, target } from './demo.mjs';

const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--host-resolver-rules=MAP app.test 127.0.0.1'];
const base = new URL('/', endpoint).href;
const token = admin.Authorization;

let site;
let browser;

before(async () => {
  site = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end('<!doctype html><title>A frontend</title>');
  });
  await new Promise((resolve) => { site.listen(0, '127.0.0.1', resolve); });
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: flags });
});
after(async () => {
  await browser?.close();
  site?.close();
});

// open gives a page that the host serves.
async function open(t, host) {
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  await page.goto(`http://${host}:${site.address().port}/`);
  return page;
}

// ask sends a request from the page, and gives what the page can read of the answer; error where it gets nothing.
const ask = (page, path, { method = 'GET', headers = {}, body } = {}) => page.evaluate(async ({ url, init }) => {
  try {
    const answer = await fetch(url, init);
    return { status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.text() };
  } catch (error) {
    return { error: error.name };
  }
}, { url: new URL(path, base).href, init: { method, headers, body } });

const graphql = (page, query, variables, headers = {}) => ask(page, '/graphql', {
  method: 'POST',
  headers: { Authorization: token, 'Content-Type': 'application/json', ...headers },
  body: JSON.stringify({ query, variables }),
});

// firstEvent gives the first answer of a subscription over an event stream.
const firstEvent = (page, variables) => page.evaluate(async ({ url, token, body }) => {
  const stop = new AbortController();
  try {
    const answer = await fetch(url, {
      method: 'POST', body, signal: stop.signal,
      headers: { Authorization: token, 'Content-Type': 'application/json', Accept: 'text/event-stream' },
    });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ''; ;) {
      const { value, done } = await reader.read();
      if (done) return { error: 'ended' };
      text += value;
      const event = /^event: next\ndata: (.*)\n(?:id: .*\n)?\n/m.exec(text);
      if (event) return JSON.parse(event[1]);
    }
  } catch (error) {
    return { error: error.name };
  } finally {
    stop.abort();
  }
}, { url: endpoint, token, body: JSON.stringify({ query: follow, variables }) });

// firstMessage does so over a socket.
const firstMessage = (page, variables) => page.evaluate(({ url, token, payload }) => new Promise((resolve) => {
  const wire = new WebSocket(url, 'graphql-transport-ws');
  const say = (message) => wire.send(JSON.stringify(message));
  wire.onopen = () => say({ type: 'connection_init', payload: { Authorization: token } });
  wire.onclose = ({ code }) => resolve({ error: `closed with ${code}` });
  wire.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    if (message.type === 'connection_ack') say({ id: '1', type: 'subscribe', payload });
    if (message.type === 'next') {
      resolve(message.payload);
      wire.close();
    }
  };
}), { url: socket, token, payload: { query: follow, variables } });

async function definitionId() {
  const { defaultValueDefinitions } = await run('{ defaultValueDefinitions(first: 1) { nodes { id } } }');
  return defaultValueDefinitions.nodes[0].id;
}

for (const host of ['localhost', '127.0.0.1']) {
  test(`a page of ${host} on another port queries, and reads what the answer says besides`, async (t) => {
    const page = await open(t, host);
    const answer = await graphql(page, '{ viewer { role } }', {}, { 'X-Request-Id': 'from-a-page', Traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' });
    assert.equal(answer.status, 200);
    assert.equal(JSON.parse(answer.body).data.viewer.role, 'ADMIN');
    assert.equal(answer.headers['x-request-id'], 'from-a-page');
    for (const name of ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']) {
      assert.match(answer.headers[name] ?? '', /^\d+$/, name);
    }
  });
}

test('a page of another port reads, changes and rolls back over REST', async (t) => {
  const page = await open(t, 'localhost');
  const list = await ask(page, '/module-definitions?limit=1');
  assert.equal(JSON.parse(list.body).data.length, 1);

  const path = `/default-value-definitions/${await definitionId()}`;
  const headers = { Authorization: token, 'Content-Type': 'application/json' };
  const changed = await ask(page, path, { method: 'PATCH', headers, body: '{"data":{}}' });
  assert.equal(changed.status, 200, changed.body);
  const refused = await ask(page, path, { method: 'PATCH', headers: { ...headers, 'If-Match': '"v999"' }, body: '{"data":{}}' });
  assert.equal(refused.status, 412);
  assert.ok(changed.headers.etag, 'the page reads the ETag');

  const rolledBack = await ask(page, `/deployments/${target}/rollback`, { method: 'POST', headers: { Authorization: token } });
  assert.equal(rolledBack.status, 201, rolledBack.body);
  assert.match(rolledBack.headers.location, /^\/deployments\/dep_/);
  await cancel(JSON.parse(rolledBack.body).data.id);
});

test('a page of another port reads refusals, and what they ask for', async (t) => {
  const page = await open(t, 'localhost');
  const refused = await ask(page, '/deployments/x', { headers: { Authorization: 'Bearer x' } });
  assert.equal(refused.status, 401);
  assert.match(refused.headers['www-authenticate'], /^Bearer/);
  assert.equal((await ask(page, '/nothing')).status, 404);
  assert.equal((await ask(page, '/graphql', { method: 'DELETE' })).status, 405);
});

test('a page of another port follows over an event stream and over a socket', async (t) => {
  const page = await open(t, 'localhost');
  for (const first of [firstEvent, firstMessage]) {
    const { data, error } = await first(page, { id: target });
    assert.equal(error, undefined);
    assert.equal(data.deploymentChanged.deployment.id, target);
  }
});

test('a page of an origin that is not allowed gets nothing', async (t) => {
  const page = await open(t, 'app.test');
  const nothing = { error: 'TypeError' };
  assert.deepEqual(await graphql(page, '{ viewer { role } }'), nothing);
  assert.deepEqual(await ask(page, '/graphql?query={__typename}'), nothing);
  assert.deepEqual(await ask(page, '/module-definitions?limit=1'), nothing);
  assert.deepEqual(await ask(page, '/openapi.json'), nothing);
  assert.deepEqual(await ask(page, `/deployments/${target}/rollback`, { method: 'POST' }), nothing);
  assert.deepEqual(await ask(page, `/default-value-definitions/${await definitionId()}`, { method: 'PATCH', headers: { Authorization: token }, body: '{"data":{}}' }), nothing);
  assert.deepEqual(await firstEvent(page, { id: target }), nothing);
  assert.deepEqual(await firstMessage(page, { id: target }), { error: 'closed with 1006' });
});

test('the settings of the explorer, with their token, are for no other page', async (t) => {
  for (const host of ['localhost', 'app.test']) {
    const page = await open(t, host);
    assert.deepEqual(await ask(page, '/playground/config.json'), { error: 'TypeError' }, host);
  }
});
