// The screens of a dashboard, each pasted into GraphiQL with its variables and run.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lacking, screens } from '../../conformance/screens/screens.mjs';
import { Visit, explorerReady } from './browser.mjs';
import { explorer } from './explorer.mjs';

const visit = new Visit(process.env.SLIPWAY_SCREENS_URL, explorerReady);
const { answer, button, paste, run, tab, text } = explorer(visit);

// ask returns the data of a query, with the page's token but outside the page.
async function ask(query, variables) {
  const token = await visit.page.getByLabel('Bearer token').inputValue();
  const { data, errors } = await (await fetch(visit.endpoint, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
    body: JSON.stringify({ query, variables }),
  })).json();
  assert.equal(errors, undefined);
  return data;
}

test('each screen is answered in a tab of its own, with its cost', async () => {
  for (const { name, operation, text: query, variables, shows } of screens) {
    await button('New tab').click();
    await paste('Operation Editor', query);
    await tab(operation).waitFor();
    await button('Variables').click();
    await paste('Variables', JSON.stringify(await variables(ask), null, 2));
    assert.equal(await text('response.json'), '', name);
    await run();
    const { data, errors, extensions } = await answer();
    assert.equal(errors, undefined, name);
    assert.deepEqual(lacking({ shows }, data), [], name);
    assert.ok(extensions.cost.used > 0 && extensions.cost.used <= extensions.cost.limit, name);
    await visit.picture(`graphiql-screen-${name}`);
  }
});
