// Opens the pages of a server in Chromium below the path of a proxy that takes the path away: the REST documents
// and the explorer.
//   SLIPWAY_BIN     the program, which is started behind the proxy
//   CHROMIUM        the browser, /usr/bin/chromium unless given
//   SCREENSHOT_DIR  where pictures go, none are taken unless given
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request as forward } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { explorerReady, flaws, launch, overflow, readable } from './browser.mjs';

assert.ok(process.env.SLIPWAY_BIN, 'SLIPWAY_BIN must be the slipway program; it is not set');

let base;
let token;
let other;
let browser;
let server;
let proxy;

before(async () => {
  let target;
  proxy = createServer((asked, answer) => {
    const path = asked.url.replace(/^\/slipway/, '');
    if (path === asked.url) {
      // Chromium looks for the icon of what names none, such as JSON, beside all pages.
      answer.writeHead(asked.url === '/favicon.ico' ? 204 : 404).end();
      return;
    }
    const { method, headers } = asked;
    asked.pipe(forward(new URL(path || '/', target), { method, headers }, (inner) => {
      answer.writeHead(inner.statusCode, inner.headers);
      inner.pipe(answer);
    }));
  }).on('upgrade', (asked, socket, head) => {
    const { hostname, port } = new URL(target);
    const far = connect(port, hostname, () => {
      const headers = asked.rawHeaders.map((text, at) => (at % 2 ? `${text}\r\n` : `${text}: `)).join('');
      far.write(`GET ${asked.url.replace(/^\/slipway/, '')} HTTP/1.1\r\n${headers}\r\n`);
      far.write(head);
      socket.pipe(far).pipe(socket);
    });
    for (const [one, other] of [[socket, far], [far, socket]]) one.on('error', () => other.destroy());
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  base = `http://127.0.0.1:${proxy.address().port}/slipway`;
  server = spawn(process.env.SLIPWAY_BIN,
    ['demo', '--pace', '20', '--log-level', 'error', '--listen', '127.0.0.1:0', '--admin-listen', '', '--base-url', base],
    { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface(server.stdout)) {
    token ??= line.match(/^  admin +(slp_\S+)/)?.[1];
    other ??= line.match(/^  viewer +(slp_\S+)/)?.[1];
    target = line.match(/^ready: (http\S+)/)?.[1];
    if (target) break;
  }
  assert.ok(token && other && target, 'the demo has not said that it is ready');
  browser = await launch();
});

after(async () => {
  await browser?.close();
  server?.kill();
  proxy?.close();
});

// visit opens a page, and asserts at the end that it has reached nothing else and that its console is clean.
async function visit(t, path, use, { width = 1280, height = 1400, colorScheme = 'light' } = {}) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme });
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

// list sends the request of an operation of the documents, and gives its answer.
async function list(page) {
  await page.getByText('List module definitions').click();
  await page.getByRole('button', { name: 'Try it out' }).click();
  const answered = page.waitForResponse(`${base}/module-definitions*`);
  await page.getByRole('button', { name: 'Execute' }).click();
  const answer = await answered;
  await page.getByText('ratelimit-remaining').first().waitFor();
  return answer;
}

test('documents', (t) => visit(t, '/docs', async (page) => {
  await page.getByText('Requests go out with the token of the demo.').waitFor();
  const version = execFileSync(process.env.SLIPWAY_BIN, ['version'], { encoding: 'utf8' }).match(/^slipway (\S+),/)[1];
  await page.getByRole('heading', { name: `Slipway REST API ${version}` }).waitFor();
  const answer = await list(page);
  assert.equal(answer.status(), 200);
  assert.equal(answer.request().headers().authorization, `Bearer ${token}`);
}));

test('documents with a token of one\'s own', (t) => visit(t, '/docs', async (page) => {
  await page.getByText('Requests go out with the token of the demo.').waitFor();
  await page.getByRole('button', { name: 'Authorize' }).click();
  const bearer = page.locator('.auth-container').filter({ hasText: 'bearer (http, Bearer)' });
  await bearer.getByRole('button', { name: 'Remove authorization' }).click();
  await bearer.getByLabel('auth-bearer-value').fill(other);
  await bearer.getByRole('button', { name: 'Apply credentials' }).click();
  await bearer.getByRole('button', { name: 'Close' }).click();
  assert.equal((await list(page)).request().headers().authorization, `Bearer ${other}`);
}));

// Where the server gives no token, as to another site's page, or where it gives no settings, the documents are there.
for (const [name, answer] of Object.entries({ 'no token': { json: { token: '' } }, 'no settings': { contentType: 'text/plain', body: 'none' } })) {
  test(`documents with ${name}`, (t) => visit(t, '/openapi.json', async (page) => {
    await page.route('**/config.json', (route) => route.fulfill(answer));
    await page.goto(`${base}/docs`);
    const found = await list(page);
    assert.equal(found.status(), 200);
    assert.equal(found.request().headers().authorization, undefined);
    assert.equal(await page.getByRole('status').first().textContent(), '');
  }));
}

for (const colorScheme of ['light', 'dark']) {
  for (const width of [1280, 400]) {
    test(`documents-${colorScheme}-${width}`, (t) => visit(t, '/docs', async (page) => {
      await page.getByText('Requests go out with the token of the demo.').waitFor();
      const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number));
      assert.equal(ground.every((part) => part < 64), colorScheme === 'dark', `the ground is ${ground}`);
      for (const tag of await page.locator('.opblock-tag').all()) {
        const { height } = await tag.boundingBox();
        assert.ok(height < 120, `${await tag.textContent()} is ${height} pixels high`);
      }
      await list(page);
      await page.getByText('Roll back to a deployment').click();
      await page.locator('#operations-Deployments-rollbackDeployment .opblock-body .responses-table').waitFor();
      assert.deepEqual(await flaws(page, readable.filter((rule) => rule !== 'label')), []);
      assert.ok(await overflow(page) <= 0, 'the whole width is in the window');
      await page.getByRole('button', { name: 'Authorize' }).click();
      const { x, width: wide } = await page.locator('.modal-ux').boundingBox();
      assert.ok(x >= 0 && x + wide <= width, `the dialog is from ${x}, ${wide} pixels wide`);
      assert.deepEqual(await flaws(page, ['color-contrast']), []);
      await page.locator('.close-modal').click();
      await page.evaluate(() => window.scrollTo(0, 0));
    }, { width, height: 900, colorScheme }));
  }
}

test('the example Follow follows what goes on', (t) => visit(t, '/playground', async (page) => {
  await explorerReady(page);
  await page.getByRole('tab', { name: /^Follow/ }).click();
  await page.getByRole('button', { name: /^Execute query/ }).click();
  const following = page.getByRole('region', { name: 'Live updates' }).getByRole('article', { name: 'Follow' });
  await following.getByText(/^open, ([3-9]|\d\d+) events$/).waitFor();
  await following.getByText('"RUNNING"').first().waitFor();
}));

test('explorer', (t) => visit(t, '', async (page) => {
  await page.waitForURL(`${base}/playground`);
  await explorerReady(page);
  const answered = page.waitForResponse(`${base}/graphql`);
  await page.getByRole('button', { name: /^Execute query/ }).click();
  assert.equal((await answered).status(), 200);
}));
