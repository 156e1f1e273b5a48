// Opens the explorer of a running server in Chromium and uses it as a person would.
//   SLIPWAY_URL     the server, such as http://127.0.0.1:8080; its page must fill the token in
//   CHROMIUM        the browser, /usr/bin/chromium unless given
//   SCREENSHOT_DIR  where pictures go, none are taken unless given
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { chromium } from 'playwright-core';

const server = process.env.SLIPWAY_URL;
assert.ok(server, 'SLIPWAY_URL must be the URL of a running server; it is not set');

const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const catalogue = '{ moduleDefinitions(first: 3) { nodes { name type } } }';

let browser;
let page;
let requests;
let complaints;

before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: flags });
});
after(() => browser?.close());

beforeEach(async () => {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  page = await context.newPage();
  page.setDefaultTimeout(10_000);
  requests = [];
  complaints = [];
  page.on('request', (request) => requests.push(request));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // The browser reports each refused query of ours by itself; the page is to show it, and does.
    const refused = message.text().startsWith('Failed to load resource') && message.location().url === endpoint();
    if (message.type() === 'error' && !refused) complaints.push(`${message.text()} (${message.location().url})`);
  });
  await page.goto(new URL('/playground', server).href);
  await page.getByText(/^Schema loaded: \d+ types\.$/).waitFor();
});

afterEach(async () => {
  await page.context().close();
  const hosts = [...new Set(requests.map((request) => new URL(request.url()).host))];
  assert.deepEqual(hosts, [new URL(server).host], 'the page must reach no other host');
  assert.deepEqual(complaints, [], 'the console must have no errors');
});

const endpoint = () => new URL('/graphql', server).href;
const query = () => page.getByRole('textbox', { name: 'Query' });
const variables = () => page.getByRole('textbox', { name: 'Variables' });
const answer = async () => JSON.parse(await page.getByRole('region', { name: 'Answer' }).textContent());
const summary = (text) => page.locator('#summary').getByText(text).waitFor();
const problem = (text) => page.getByRole('alert').getByText(text).first().waitFor();
const queries = () => requests.filter((request) => request.url() === endpoint() && !request.postData().includes('__schema'));

async function run(text) {
  await query().fill(text);
  await query().press('Control+Enter');
}

async function picture(name) {
  if (process.env.SCREENSHOT_DIR) await page.screenshot({ path: join(process.env.SCREENSHOT_DIR, `${name}.png`) });
}

test('a typed query is answered', async () => {
  await query().fill('');
  await query().pressSequentially('{ __typename }');
  await page.getByRole('button', { name: /^Run\b/ }).click();
  await summary(/^200/);
  assert.deepEqual((await answer()).data, { __typename: 'Query' });
});

test('the token that the server fills in reaches the caller\'s own data', async () => {
  await run('{ viewer { name role } }');
  await summary(/^200/);
  const { data, errors } = await answer();
  assert.equal(errors, undefined);
  assert.ok(data.viewer.name && data.viewer.role, 'the viewer has a name and a role');
});

test('the catalogue is listed', async () => {
  await run(catalogue);
  await summary(/^200/);
  const { nodes } = (await answer()).data.moduleDefinitions;
  assert.ok(nodes.length > 0 && nodes.length <= 3, `1 to 3 definitions are expected, not ${nodes.length}`);
  await picture('explorer-light');
  await page.emulateMedia({ colorScheme: 'dark' });
  await picture('explorer-dark');
});

test('the first example runs as it stands', async () => {
  await page.getByRole('tab', { name: 'Examples' }).click();
  const cards = page.getByRole('tabpanel').getByRole('button');
  assert.ok(await cards.count() > 0, 'the server must give examples');
  await cards.first().click();
  await page.getByRole('button', { name: /^Run\b/ }).click();
  await summary(/^200/);
  assert.equal((await answer()).errors, undefined);
});

// mutate sends a mutation with the page's token, beside the page, and returns its payload.
async function mutate(field, id) {
  const token = await page.getByLabel('Bearer token').inputValue();
  const response = await fetch(endpoint(), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
    body: JSON.stringify({ query: `mutation { ${field}(input: { id: "${id}" }) { deployment { id } } }` }),
  });
  const { data, errors } = await response.json();
  assert.equal(errors, undefined);
  return data[field];
}

test('a subscription shows each answer as it comes, until it ends', async () => {
  await run('{ deployments(filter: { status: SUCCEEDED }, first: 20) { nodes { id redeployEligibility { allowed } } } }');
  await summary(/^200/);
  const source = (await answer()).data.deployments.nodes.find((d) => d.redeployEligibility.allowed);
  const { deployment: { id } } = await mutate('redeployDeployment', source.id);
  await run(`subscription { deploymentChanged(id: "${id}") { deployment { status } } }`);
  await summary(/^1 event$/);
  assert.equal((await answer()).data.deploymentChanged.deployment.status, 'PENDING');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await summary(/Stopped$/);

  await run(`subscription { deploymentChanged(id: "${id}") { deployment { status } } }`);
  await summary(/^1 event$/);
  await mutate('cancelDeployment', id);
  await summary(/Completed$/);
  await summary(/^2 events$/);
  assert.equal((await answer()).data.deploymentChanged.deployment.status, 'CANCELED');
  await picture('explorer-subscription');
});

test('a wrong token is refused in plain sight', async () => {
  await page.getByLabel('Bearer token').fill('not-a-token');
  await run('{ viewer { name role } }');
  await summary(/^401/);
  await problem('slipway:Request:UNAUTHENTICATED');
  await picture('explorer-refused');
});

test('a token that no header can carry is named and not sent', async () => {
  await page.getByLabel('Bearer token').fill('töken');
  await run('{ __typename }');
  await problem('character 2 is not a visible ASCII character');
  assert.equal(queries().length, 0);
});

test('variables that are not JSON are named by line and column and not sent', async () => {
  await variables().fill('{\n  "first": 3,\n}');
  await run('{ __typename }');
  await problem('Line 3, column 1: expected a name in quotes, found }.');
  assert.equal(queries().length, 0);
});

test('variables go out as they are written, digit by digit', async () => {
  await variables().fill('{"first": 3, "big": 12345678901234567890.10}');
  await run('query Pick($first: Int!) { moduleDefinitions(first: $first) { nodes { name } } }');
  await page.locator('#summary .badge').waitFor();
  assert.ok(queries()[0].postData().includes('"variables":{"first": 3, "big": 12345678901234567890.10}'));
});

test('one of several operations is picked', async () => {
  await query().fill('query First { first: __typename }\nquery Second { second: __typename }');
  await page.getByLabel('Operation').selectOption('Second');
  await page.getByRole('button', { name: /^Run\b/ }).click();
  await summary(/^200/);
  assert.deepEqual((await answer()).data, { second: 'Query' });
});

test('an error of the document leads to its place', async () => {
  await run('{\n  nothingOfThisName\n}');
  await page.getByRole('alert').getByRole('button', { name: 'line 2, column 3' }).click();
  assert.equal(await query().evaluate((area) => area.selectionStart), 4);
});

test('the schema is searched, followed and gone back through', async () => {
  await page.getByRole('searchbox', { name: 'Search the schema' }).fill('moduleDefinitions');
  await page.getByRole('button', { name: 'Query.moduleDefinitions', exact: true }).click();
  await page.getByRole('heading', { name: 'type Query' }).waitFor();
  await page.locator('.member.here').getByRole('button', { name: /Connection$/ }).click();
  await page.getByRole('heading', { name: /Connection$/ }).waitFor();
  await picture('explorer-schema');
  await page.getByRole('button', { name: '← Query' }).click();
  await page.getByRole('heading', { name: 'type Query' }).waitFor();
});

test('a field inserted from the schema runs as it stands', async () => {
  await query().fill('');
  await page.getByRole('button', { name: 'Query', exact: true }).click();
  await page.getByRole('button', { name: 'Insert moduleDefinitions into the query' }).click();
  await page.getByRole('button', { name: /^Run\b/ }).click();
  await summary(/^200/);
  const { data, errors } = await answer();
  assert.equal(errors, undefined);
  assert.ok(Array.isArray(data.moduleDefinitions.nodes));
});

test('the address carries the query over a reload, and the token nowhere but in the session', async () => {
  await page.getByLabel('Bearer token').fill('secret-token');
  await run(catalogue);
  await page.waitForURL(/#query=.*moduleDefinitions/);
  await page.reload();
  assert.equal(await query().inputValue(), catalogue);
  assert.equal(await page.getByLabel('Bearer token').inputValue(), 'secret-token');
  const kept = await page.evaluate(() => window.location.href + JSON.stringify(window.localStorage));
  assert.ok(!kept.includes('secret-token'), 'the token must be neither in the address nor in the local storage');
});

test('a request that was run is offered again', async () => {
  await run(catalogue);
  await summary(/^200/);
  await query().fill('{ __typename }');
  await page.getByRole('tab', { name: 'History' }).click();
  await page.getByRole('tabpanel').getByRole('button', { name: 'moduleDefinitions' }).click();
  assert.equal(await query().inputValue(), catalogue);
});

test('an answer that is not JSON is shown as it came', async () => {
  await page.route('**/graphql', (route) => route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' }));
  await run('{ __typename }');
  await problem('The answer is not JSON (its type is text/html)');
  assert.equal(await page.getByRole('region', { name: 'Answer' }).textContent(), '<h1>Bad gateway</h1>');
});

test('a server that cannot be reached is said so', async () => {
  await page.route('**/graphql', (route) => route.abort('connectionrefused'));
  await run('{ __typename }');
  await problem('No answer came from /graphql');
});

test('the page fits a narrow window and leaves the editor by keyboard', async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  const { width, content } = await page.evaluate(() => ({ width: window.innerWidth, content: document.documentElement.scrollWidth }));
  assert.ok(content <= width, `the page is ${content} pixels wide in a window of ${width}`);
  await picture('explorer-narrow');
  await query().focus();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Tab');
  assert.ok(!await query().evaluate((area) => area === document.activeElement), 'Escape and Tab must leave the editor');
});
