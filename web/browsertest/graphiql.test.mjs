// GraphiQL, used as a person would.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Visit, explorerReady, flaws, overflow, readable } from './browser.mjs';
import { explorer } from './explorer.mjs';

const visit = new Visit(process.env.SLIPWAY_SERVER, explorerReady);

const { answer, button, editor, fresh, run, tab, text, write } = explorer(visit);
const problem = (text) => visit.page.getByRole('alert').getByText(text).waitFor();
const live = () => visit.page.getByRole('region', { name: 'Live updates' });

test('the examples are tabs, and the first runs as it stands', async () => {
  for (const name of ['Catalogue', 'Deployment', 'RollBack', 'Follow', 'DefaultValueDefinitions']) await tab(name).waitFor();
  await run();
  const { data, errors } = await answer();
  assert.equal(errors, undefined);
  assert.ok(data.moduleDefinitions.totalCount > 0);
  await visit.picture('graphiql-light');
  await visit.page.emulateMedia({ colorScheme: 'dark' });
  await visit.page.locator('.monaco-editor.vs-dark').first().waitFor();
  await visit.picture('graphiql-dark');
});

test('every example that is a query in a tab is answered', async () => {
  for (const name of ['Deployment', 'DefaultValueDefinitions']) {
    await tab(name).click();
    await run();
    assert.equal((await answer()).errors, undefined, name);
  }
});

test('an example of the panel opens in a tab of its own', async () => {
  await button('Show Examples').click();
  await visit.page.getByRole('region', { name: 'Examples' }).getByRole('button', { name: 'What failed lately, and why' }).click();
  await tab('Failures').waitFor();
  assert.deepEqual(JSON.parse(await text('variables.json')), { filter: { statuses: 'FAILED' } });
  await run();
  assert.equal((await answer()).errors, undefined);
});

test('what waits for approvals is shown, and approved', async () => {
  const example = async (name) => {
    await visit.page.getByRole('region', { name: 'Examples' }).getByRole('button', { name }).click();
  };
  await button('Show Examples').click();
  await example('What waits for approvals, and who may give them');
  await tab('Awaiting').waitFor();
  await run();
  const [waits] = (await answer()).data.deployments.nodes;
  assert.deepEqual(waits.requirements.map(({ met, rule }) => [rule.name, met]).sort(), [['Four eyes in production', false], ['Staging first', true]]);
  assert.equal(waits.approveEligibility.allowed, true);
  await visit.picture('graphiql-awaiting');
  await example('Approve what waits');
  await tab('Approve').waitFor();
  await run();
  const { approveDeployment } = (await answer()).data;
  assert.equal(approveDeployment.started, true);
  assert.equal(approveDeployment.deployment.id, waits.id);
  await visit.picture('graphiql-approved');
});

test('fields are completed from the schema while one types', async () => {
  await fresh('');
  await visit.page.keyboard.type('query Who { viewer { ro');
  const suggestion = visit.page.getByRole('option', { name: /^role/ });
  await suggestion.waitFor();
  await visit.picture('graphiql-completion');
  await visit.page.keyboard.press('Enter');
  await run();
  assert.deepEqual((await answer()).data, { viewer: { role: 'ADMIN' } });
});

test('a field that there is not is marked before it is sent', async () => {
  await fresh('{ nothingOfThisName }');
  await visit.page.locator('.squiggly-error').waitFor();
});

test('the documentation shows the members of an input and the values of an enum', async () => {
  await button('Show Documentation Explorer').click();
  const docs = visit.page.getByRole('region', { name: 'Documentation Explorer' });
  const search = async (name) => {
    await visit.page.getByRole('combobox', { name: 'Search schema...' }).or(visit.page.getByPlaceholder(/Ctrl/)).first().fill(name);
    await visit.page.getByRole('option', { name, exact: true }).first().click();
  };
  await search('RollbackDeploymentInput');
  await docs.getByText('expectedLiveDeploymentId').first().waitFor();
  await visit.picture('graphiql-docs');
  await search('Role');
  await docs.getByText('VIEWER', { exact: true }).waitFor();
});

test('a rollback is followed live with one click, while another query runs', async () => {
  await tab('RollBack').click();
  await run();
  const { data: { rollbackDeployment: { deployment: { id } } } } = await answer();
  await live().getByRole('button', { name: 'Follow it live' }).click();
  const following = live().getByRole('article', { name: `Follow ${id}` });
  await following.getByText('open, 1 event').waitFor();
  await following.getByText('"PENDING"').first().waitFor();

  await tab('Catalogue').click();
  await run();
  assert.ok((await answer()).data.moduleDefinitions.totalCount > 0);
  await visit.mutate('cancelDeployment', id);
  await following.getByText('completed, 2 events').waitFor();
  await following.getByText('"CANCELED"').first().waitFor();
  assert.ok((await answer()).data.moduleDefinitions, 'the answer of the other tab stays');
  await visit.picture('graphiql-live');
});

// started redeploys something beside the page, and gives the id of the new deployment.
async function started() {
  await fresh('{ deployments(filter: { statuses: SUCCEEDED }, first: 20) { nodes { id redeployEligibility { allowed } } } }');
  await run();
  const source = (await answer()).data.deployments.nodes.find(({ redeployEligibility }) => redeployEligibility.allowed);
  return (await visit.mutate('redeployDeployment', source.id)).deployment.id;
}

test('a subscription of a tab goes on while other tabs are shown, until its tab is closed', async () => {
  const id = await started();
  await fresh(`subscription Watch { deploymentChanged(id: "${id}") { deployment { status } } }`);
  await run();
  assert.equal((await answer()).data.deploymentChanged.deployment.status, 'PENDING');
  const watched = live().getByRole('article', { name: 'Watch' });
  await tab('Catalogue').click();
  await watched.getByText('open, 1 event').waitFor();
  await tab('Watch').click();
  await tab('Watch').getByRole('button', { name: 'Close Tab' }).click();
  await watched.getByText('stopped, 1 event').waitFor();
  await visit.mutate('cancelDeployment', id);
});

test('a subscription shows each event in its tab, and is stopped there', async () => {
  const id = await started();
  await fresh(`subscription Watch { deploymentChanged(id: "${id}") { deployment { status } } }`);
  await run();
  assert.equal((await answer()).data.deploymentChanged.deployment.status, 'PENDING');
  await button(/^Stop query/).click();
  await live().getByText('stopped, 1 event').waitFor();
  await run();
  await live().getByText('open, 1 event').waitFor();
  await visit.mutate('cancelDeployment', id);
  await live().getByText('completed, 2 events').waitFor();
  assert.equal((await answer()).data.deploymentChanged.deployment.status, 'CANCELED');
});

test('a wrong token is said so, and hides nothing of the schema', async () => {
  await visit.page.getByLabel('Bearer token').fill('not-a-token');
  await fresh('{ viewer { name } }');
  await run();
  assert.equal((await answer()).errors[0].extensions.code, 'slipway:Request:UNAUTHENTICATED');
  await problem('The server does not accept the token: The bearer token is malformed');
  await visit.picture('graphiql-refused');
  await visit.page.reload();
  await explorerReady(visit.page);
  await fresh('query Who { ');
  await visit.page.keyboard.type('vie');
  await visit.page.getByRole('option', { name: /^viewer/ }).waitFor();
});

test('a new tab begins with Run while a subscription of another goes on, whose events stay there', async () => {
  const id = await started();
  await fresh(`subscription Watch { deploymentChanged(id: "${id}") { deployment { status } } }`);
  await run();
  assert.equal((await answer()).data.deploymentChanged.deployment.status, 'PENDING');
  await button('New tab').click();
  await button(/^Execute query/).waitFor();
  assert.equal(await button(/^Stop query/).count(), 0);
  const watched = live().getByRole('article', { name: 'Watch' });
  await watched.getByText('open, 1 event').waitFor();
  await visit.mutate('cancelDeployment', id);
  await watched.getByText('completed, 2 events').waitFor();
  assert.equal(await text('response.json'), '', 'the answer of the new tab');
  await write('Operation Editor', '{ viewer { role } }');
  await run();
  assert.deepEqual((await answer()).data, { viewer: { role: 'ADMIN' } });
});

test('a wrong token is said so where a subscription needs one, with the code and no stack', async () => {
  for (const [token, organization, code] of [
    ['not-a-token', '', 'slipway:Request:UNAUTHENTICATED'],
    ['', '', 'slipway:Request:UNAUTHENTICATED'],
    [await visit.page.getByLabel('Bearer token').inputValue(), 'nobodys', 'slipway:Organization:NOT_FOUND'],
  ]) {
    await visit.page.getByLabel('Bearer token').fill(token);
    await visit.page.getByLabel('Organization').fill(organization);
    await tab('Follow').click();
    await run();
    await problem('The server does not accept the token or the organization for subscriptions: 4403 Forbidden');
    const refused = await answer();
    assert.deepEqual(refused.errors.map(({ extensions }) => extensions?.code), [code], JSON.stringify(refused));
    assert.ok(!JSON.stringify(refused).includes('.js'), JSON.stringify(refused));
    await live().getByText('refused, 1 event').first().waitFor();
  }
  await visit.picture('graphiql-subscription-refused');
});

test('a subscription of what there is not shows the code', async () => {
  await fresh('subscription Nothing { deploymentChanged(id: "dep_01h455vb4pex5vsknk084sn02q") { version } }');
  await run();
  const { errors } = await answer();
  assert.equal(errors[0].extensions.code, 'slipway:Deployment:NOT_FOUND');
  assert.equal(errors[0].stack, undefined);
});

test('a token that no header can carry is named and not sent', async () => {
  await visit.page.getByLabel('Bearer token').fill('töken');
  await problem('character 2 is not a visible ASCII character');
  await run();
  await answer();
  assert.equal(visit.queries().length, 0);
});

test('a server that cannot be reached is said so', async () => {
  await visit.page.route('**/graphql', (route) => route.abort('connectionrefused'));
  await run();
  const { errors } = await answer();
  assert.match(errors[0].message, /^No answer came from .* Is the server running/);
  assert.equal(errors[0].stack, undefined);
  await problem('No answer came from');
});

test('an answer that is not JSON is told as it came', async () => {
  await visit.page.route('**/graphql', (route) => route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' }));
  await run();
  assert.match((await answer()).errors[0].message, /status 502, type text\/html, <h1>Bad gateway/);
});

test('the token and the organization go with every request and every socket', async () => {
  const sent = [];
  visit.page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => sent.push(JSON.parse(payload))));
  const [request] = await Promise.all([
    visit.page.waitForRequest((each) => each.url() === visit.endpoint),
    visit.page.getByLabel('Organization').fill('northwind').then(run),
  ]);
  const token = await visit.page.getByLabel('Bearer token').inputValue();
  assert.equal(request.headers().authorization, `Bearer ${token}`);
  assert.equal(request.headers()['slipway-organization'], 'northwind');
  await answer();
  await tab('Follow').click();
  await run();
  await answer();
  assert.deepEqual(sent[0].payload, { Authorization: `Bearer ${token}`, organization: 'northwind' });
});

test('headers of a tab go before those of the page, and are kept nowhere', async () => {
  await button('Headers').click();
  await write('Headers', '{"Authorization": "Bearer secret-token", "X-Trace": "secret-trace"}');
  const [request] = await Promise.all([visit.page.waitForRequest((each) => each.url() === visit.endpoint), run()]);
  assert.equal(request.headers().authorization, 'Bearer secret-token');
  assert.equal(request.headers()['x-trace'], 'secret-trace');
  await answer();
  await button('Show History').click();
  await visit.page.getByRole('region', { name: 'History' }).getByText('Catalogue').first().waitFor();
  const kept = await visit.page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  assert.ok(kept.includes('Catalogue') && !kept.includes('secret-'), kept);
});

test('a reload keeps the tabs, and the token in the session alone', async () => {
  await fresh('query Kept { __typename }');
  await tab('Kept').waitFor();
  await visit.page.getByLabel('Bearer token').fill('secret-token');
  await visit.page.waitForFunction(() => JSON.stringify({ ...localStorage }).includes('Kept'));
  await visit.page.reload();
  await explorerReady(visit.page);
  await tab('Kept').waitFor();
  await tab('Follow').waitFor();
  assert.equal(await visit.page.getByLabel('Bearer token').inputValue(), 'secret-token');
  const kept = await visit.page.evaluate(() => location.href + JSON.stringify({ ...localStorage }) + document.cookie);
  assert.ok(!kept.includes('secret-token'), 'the token must be neither in the address nor in the local storage');
});

test('the page is one column in a narrow window, with the mouse and the keyboard', async () => {
  const { page } = visit;
  await page.setViewportSize({ width: 400, height: 800 });
  const box = (selector) => page.locator(selector).boundingBox();
  await run();
  await answer();
  const [query, variables, response] = await Promise.all(['.graphiql-query-editor', '.graphiql-editor-tool', '.result-window'].map(box));
  for (const [name, { width, height }] of Object.entries({ query, variables, response })) {
    assert.ok(width >= 350 && height >= 100, `${name}: ${width} by ${height}`);
  }
  assert.ok(query.y + query.height <= variables.y && variables.y + variables.height <= response.y, 'one below the other');
  for (const name of ['Bearer token', 'Organization']) assert.ok((await page.getByLabel(name).boundingBox()).width >= 200, name);
  assert.ok(await overflow(page) <= 0, 'the whole width is in the window');
  await visit.picture('graphiql-narrow');
  await button('Show Documentation Explorer').click();
  const docs = page.getByRole('region', { name: 'Documentation Explorer' });
  assert.ok((await docs.boundingBox()).width >= 350);
  assert.ok((await box('.graphiql-query-editor')).width >= 350);
  assert.ok(await overflow(page) <= 0, 'with the documentation, too');
  await page.emulateMedia({ colorScheme: 'dark' });
  await visit.picture('graphiql-narrow-docs');
});

test('the REST documents are a link away, and the way back', async () => {
  await visit.page.getByRole('link', { name: 'REST API' }).click();
  await visit.page.getByText('List module definitions').waitFor();
  await visit.page.getByRole('link', { name: 'GraphQL playground' }).click();
  await button(/^Execute query/).waitFor();
});

test('the page can be read in both schemes', async () => {
  await button('Show Examples').click();
  await tab('Follow').click();
  await run();
  await live().getByText('open, 1 event').waitFor();
  for (const colorScheme of ['light', 'dark']) {
    await visit.page.emulateMedia({ colorScheme });
    await visit.page.locator(`body.graphiql-${colorScheme}, .graphiql-container`).first().waitFor();
    assert.deepEqual(await flaws(visit.page, readable), [], colorScheme);
  }
});

test('every control has a name', async () => {
  const nameless = await visit.page.evaluate(() => [...document.querySelectorAll('button, input, select, [role=tab], [role=button]')]
    .filter((each) => each.checkVisibility() && !(each.ariaLabel || each.textContent.trim() || each.labels?.length || each.title))
    .map((each) => each.outerHTML));
  assert.deepEqual(nameless, []);
});
