// Opens the pages of a server in Chromium below the path of a proxy that takes the path away: the REST documents
// and the explorer.
//   SLIPWAY_BIN     the program, which is started behind the proxy
//   CHROMIUM        the browser, /usr/bin/chromium unless given
//   SCREENSHOT_DIR  where pictures go, none are taken unless given
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request as forward } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';

assert.ok(process.env.SLIPWAY_BIN, 'SLIPWAY_BIN must be the slipway program; it is not set');

const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync'];

let base;
let token;
let browser;
let server;
let proxy;

before(async () => {
  let target;
  proxy = createServer((asked, answer) => {
    const path = asked.url.replace(/^\/slipway/, '');
    if (path === asked.url) {
      answer.writeHead(404).end('outside of /slipway');
      return;
    }
    const { method, headers } = asked;
    asked.pipe(forward(new URL(path || '/', target), { method, headers }, (inner) => {
      answer.writeHead(inner.statusCode, inner.headers);
      inner.pipe(answer);
    }));
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  base = `http://127.0.0.1:${proxy.address().port}/slipway`;
  server = spawn(process.env.SLIPWAY_BIN,
    ['demo', '--log-level', 'error', '--listen', '127.0.0.1:0', '--admin-listen', '', '--base-url', base],
    { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface(server.stdout)) {
    token ??= line.match(/^  admin +(slp_\S+)/)?.[1];
    target = line.match(/^ready: (http\S+)/)?.[1];
    if (target) break;
  }
  assert.ok(token && target, 'the demo has not said that it is ready');
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: flags });
});

after(async () => {
  await browser?.close();
  server?.kill();
  proxy?.close();
});

// visit opens a page, and asserts at the end that it has reached nothing else and that its console is clean.
async function visit(t, path, use) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 1400 } });
  page.setDefaultTimeout(60_000);
  const others = [];
  const complaints = [];
  page.on('request', (request) => { if (!request.url().startsWith(base) && !request.url().startsWith('data:')) others.push(request.url()); });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => { if (message.type() === 'error') complaints.push(message.text()); });
  await page.goto(base + path);
  await use(page);
  if (process.env.SCREENSHOT_DIR) await page.screenshot({ path: join(process.env.SCREENSHOT_DIR, `${t.name}.png`) });
  await page.close();
  assert.deepEqual(others, [], 'the page must reach its own server alone');
  assert.deepEqual(complaints, [], 'the console must have no errors');
}

test('documents', (t) => visit(t, '/docs', async (page) => {
  await page.getByRole('button', { name: 'Authorize' }).click();
  const bearer = page.locator('form').filter({ hasText: 'bearer (http, Bearer)' });
  await bearer.getByLabel('auth-bearer-value').fill(token);
  await bearer.getByRole('button', { name: 'Apply credentials' }).click();
  await bearer.getByRole('button', { name: 'Close' }).click();
  await page.getByText('List module definitions').click();
  await page.getByRole('button', { name: 'Try it out' }).click();
  const answered = page.waitForResponse(`${base}/module-definitions*`);
  await page.getByRole('button', { name: 'Execute' }).click();
  const answer = await answered;
  assert.equal(answer.status(), 200);
  assert.equal(answer.request().headers().authorization, `Bearer ${token}`);
  await page.getByText('ratelimit-remaining').first().waitFor();
}));

test('explorer', (t) => visit(t, '', async (page) => {
  await page.waitForURL(`${base}/playground`);
  const answered = page.waitForResponse(`${base}/graphql`);
  await page.getByRole('button', { name: /^Execute query/ }).click();
  assert.equal((await answered).status(), 200);
}));
