// The small page, of a program that was built without npm, used as a person would.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Visit, flaws, overflow, readable } from './browser.mjs';

// ready waits until the page has its settings: before, its fields are empty and cannot be written.
const ready = (page) => page.getByRole('button', { name: 'Run', disabled: false }).waitFor();

const visit = new Visit(process.env.SLIPWAY_LITE_URL, ready);

const field = (name) => visit.page.getByRole('textbox', { name });
const answer = async () => JSON.parse(await visit.page.getByRole('region', { name: 'Answer' }).textContent());
const summary = (text) => visit.page.getByRole('region', { name: 'Result' }).getByRole('status').getByText(text).first().waitFor();
const problem = (text) => visit.page.getByRole('alert').getByText(text).first().waitFor();

async function run(text) {
  await field('Query').fill(text);
  await field('Query').press('Control+Enter');
}

test('a typed query is answered', async () => {
  await field('Query').fill('');
  await field('Query').pressSequentially('{ __typename }');
  await visit.page.getByRole('button', { name: 'Run' }).click();
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

test('nothing can be written or sent before the page has its settings, which would overwrite it', async () => {
  const { page } = visit;
  let give;
  await page.route('**/config.json', async (route) => {
    await new Promise((resolve) => { give = resolve; });
    await route.continue();
  });
  const asked = page.waitForRequest('**/config.json');
  await page.reload();
  await asked;
  for (const name of ['Query', 'Variables', 'Headers']) assert.ok(await field(name).isDisabled(), `${name} is disabled`);
  assert.ok(await page.getByRole('button', { name: 'Run' }).isDisabled());
  give();
  await run('{ __typename }');
  await summary(/^200/);
  assert.deepEqual((await answer()).data, { __typename: 'Query' });
});

test('the first example runs as it stands, and another can be taken', async () => {
  await visit.page.getByRole('button', { name: 'Run' }).click();
  await summary(/^200/);
  assert.equal((await answer()).errors, undefined);
  await visit.picture('lite-light');
  await visit.page.emulateMedia({ colorScheme: 'dark' });
  await visit.picture('lite-dark');
  await visit.page.getByLabel('Examples').selectOption('A deployment with its data');
  await visit.page.getByRole('button', { name: 'Run' }).click();
  await visit.page.getByRole('region', { name: 'Answer' }).getByText('"EcsDeploymentData"').or(visit.page.getByText('"clusterArn"')).first().waitFor();
  assert.equal((await answer()).errors, undefined);
});

test('a subscription shows each answer as it comes, until it ends', async () => {
  await run('{ deployments(filter: { statuses: SUCCEEDED }, first: 20) { nodes { id redeployEligibility { allowed } } } }');
  await summary(/^200/);
  const source = (await answer()).data.deployments.nodes.find((d) => d.redeployEligibility.allowed);
  const { deployment: { id } } = await visit.mutate('redeployDeployment', source.id);
  await run(`subscription { deploymentChanged(id: "${id}") { deployment { status } } }`);
  await summary(/^1 event$/);
  assert.equal((await answer()).data.deploymentChanged.deployment.status, 'PENDING');
  await visit.page.getByRole('button', { name: 'Cancel' }).click();
  await summary(/Stopped$/);

  await run(`subscription { deploymentChanged(id: "${id}") { deployment { status } } }`);
  await summary(/^1 event$/);
  await visit.mutate('cancelDeployment', id);
  await summary(/Completed$/);
  await summary(/^2 events$/);
  assert.equal((await answer()).data.deploymentChanged.deployment.status, 'CANCELED');
});

test('a wrong token is refused in plain sight', async () => {
  await visit.page.getByLabel('Bearer token').fill('not-a-token');
  await run('{ viewer { name role } }');
  await summary(/^401/);
  await problem('slipway:Request:UNAUTHENTICATED');
  await visit.picture('lite-refused');
});

test('a subscription that is refused shows the code', async () => {
  await run('subscription { deploymentChanged(id: "dep_01h455vb4pex5vsknk084sn02q") { version } }');
  await problem('slipway:Deployment:NOT_FOUND');
  await visit.page.getByLabel('Bearer token').fill('not-a-token');
  await run('subscription { deploymentsChanged { version } }');
  await summary(/^401/);
  await problem('slipway:Request:UNAUTHENTICATED');
  assert.doesNotMatch(await visit.page.getByRole('region', { name: 'Result' }).textContent(), /\.js:/);
});

test('there is something to follow', async () => {
  await visit.page.getByLabel('Examples').selectOption({ label: 'Live updates: follow a deployment while it runs' });
  await visit.page.getByRole('button', { name: 'Run' }).click();
  await summary(/^1 event$/);
  assert.equal((await answer()).data.deploymentChanged.deployment.status, 'RUNNING');
  await summary(/^Listening|^200/);
  await visit.page.getByRole('button', { name: 'Cancel' }).click();
});

test('the REST documents are a link away, and the way back', async () => {
  await visit.page.getByRole('link', { name: 'REST API' }).click();
  await visit.page.getByText('List module definitions').waitFor();
  await visit.page.getByRole('link', { name: 'GraphQL playground' }).click();
  await visit.page.getByRole('button', { name: 'Run', disabled: false }).waitFor();
});

test('the page can be read in both schemes', async () => {
  await run('{ nothingOfThisName }');
  await summary(/^\d\d\d/);
  for (const colorScheme of ['light', 'dark']) {
    await visit.page.emulateMedia({ colorScheme });
    assert.deepEqual(await flaws(visit.page, readable), [], colorScheme);
  }
});

test('a token that no header can carry is named and not sent', async () => {
  await visit.page.getByLabel('Bearer token').fill('töken');
  await run('{ __typename }');
  await problem('character 2 is not a visible ASCII character');
  assert.equal(visit.queries().length, 0);
});

test('variables and headers that are no JSON objects are named and not sent', async () => {
  await field('Variables').fill('{\n  "first": 3,\n}');
  await run('{ __typename }');
  await problem('The variables are not JSON');
  await field('Variables').fill('');
  await field('Headers').fill('["a"]');
  await run('{ __typename }');
  await problem('The headers are JSON, but no object.');
  assert.equal(visit.queries().length, 0);
});

test('variables go out as they are written, digit by digit', async () => {
  await field('Variables').fill('{"first": 3, "big": 12345678901234567890.10}');
  await run('query Pick($first: Int!) { moduleDefinitions(first: $first) { nodes { name } } }');
  await summary(/^\d\d\d/);
  assert.ok(visit.queries()[0].includes('"variables":{"first": 3, "big": 12345678901234567890.10}'));
});

test('headers go with the request, before the token of the page', async () => {
  await field('Headers').fill('{"Authorization": "Bearer not-a-token"}');
  await run('{ __typename }');
  await problem('slipway:Request:UNAUTHENTICATED');
});

test('an error of the document leads to its place', async () => {
  await run('{\n  nothingOfThisName\n}');
  await visit.page.getByRole('alert').getByRole('button', { name: 'line 2, column 3' }).click();
  assert.equal(await field('Query').evaluate((area) => area.selectionStart), 4);
});

test('the token is kept in the session and nowhere else', async () => {
  await visit.page.getByLabel('Bearer token').fill('secret-token');
  await visit.page.reload();
  await ready(visit.page);
  assert.equal(await visit.page.getByLabel('Bearer token').inputValue(), 'secret-token');
  const kept = await visit.page.evaluate(() => window.location.href + JSON.stringify(window.localStorage) + document.cookie);
  assert.ok(!kept.includes('secret-token'), 'the token must be neither in the address nor in the local storage');
});

test('an answer that is not JSON is shown as it came', async () => {
  await visit.page.route('**/graphql', (route) => route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' }));
  await run('{ __typename }');
  await problem('The answer is not JSON (its type is text/html)');
  assert.equal(await visit.page.getByRole('region', { name: 'Answer' }).textContent(), '<h1>Bad gateway</h1>');
});

test('a server that cannot be reached is said so', async () => {
  await visit.page.route('**/graphql', (route) => route.abort('connectionrefused'));
  await run('{ __typename }');
  await problem('No answer came from /graphql');
});

test('the page fits a narrow window', async () => {
  await visit.page.setViewportSize({ width: 390, height: 844 });
  assert.ok(await overflow(visit.page) <= 0, 'the whole width is in the window');
  await visit.picture('lite-narrow');
});
