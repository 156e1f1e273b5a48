// The explorer of a server that has nothing yet, with GraphiQL and without: it offers what makes the first things.
//   SLIPWAY_BIN, SLIPWAY_LITE_BIN   the two programs, of which each serves a database of its own
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { explorerReady, launch } from './browser.mjs';

// visit opens the explorer of an organization that has nothing, and gives the page and an admin's token.
async function visit(program, use) {
  assert.ok(program, 'SLIPWAY_BIN and SLIPWAY_LITE_BIN must be slipway programs; run the tests by run.sh');
  const folder = mkdtempSync(join(tmpdir(), 'slipway-first-'));
  const env = { ...process.env, SLIPWAY_DATABASE: `sqlite:${join(folder, 'slipway.db')}`, HOME: folder };
  const run = (...args) => execFileSync(program, args, { env }).toString().trim();
  run('migrate', 'up');
  run('org', 'create', '--name', 'Acme', '--slug', 'acme');
  const token = run('token', 'create', '--org', 'acme', '--role', 'admin', '--name', 'me');
  const server = spawn(program, ['serve', '--listen', '127.0.0.1:0', '--admin-listen', '', '--log-format', 'json'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let browser;
  try {
    let url;
    for await (const line of createInterface(server.stderr)) {
      const { msg, url: at } = JSON.parse(line);
      if (msg === 'serving') url = at;
      if (url) break;
    }
    browser = await launch();
    const page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    await page.goto(`${url}/playground`);
    await use(page, token);
  } finally {
    await browser?.close();
    server.kill();
    rmSync(folder, { recursive: true });
  }
}

test('GraphiQL has the first things as tabs', () => visit(process.env.SLIPWAY_BIN, async (page) => {
  await explorerReady(page);
  for (const name of ['Project', 'Environment', 'Module', 'Version', 'Instance', 'Deployment']) {
    await page.getByRole('tab', { name: new RegExp(`^${name}( |$)`) }).waitFor();
  }
}));

test('the small page makes the first project', () => visit(process.env.SLIPWAY_LITE_BIN, async (page, token) => {
  await page.getByRole('button', { name: 'Run', disabled: false }).waitFor();
  assert.equal(await page.getByRole('combobox', { name: 'Examples' }).locator('option').count(), 7);
  await page.getByLabel('Bearer token').fill(token);
  await page.getByRole('button', { name: 'Run' }).click();
  await page.getByRole('region', { name: 'Result' }).getByRole('status').getByText(/^200/).waitFor();
  const { data } = JSON.parse(await page.getByRole('region', { name: 'Answer' }).textContent());
  assert.equal(data.createProject.project.slug, 'shop');
}));
