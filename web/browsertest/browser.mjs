// A page of a running server in Chromium, under the rules that hold for every page of ours.
//   CHROMIUM        the browser, /usr/bin/chromium unless given
//   SCREENSHOT_DIR  where pictures go, none are taken unless given
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach } from 'node:test';
import { chromium } from 'playwright-core';

const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync'];

export const launch = () => chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: flags });

const axe = readFileSync(new URL('node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

// flaws gives what axe finds wrong with a page by some of its rules, each as a line. What is in the editors of GraphiQL is
// left out: it is theirs.
export async function flaws(page, rules) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate((values) => globalThis.axe.run({ exclude: ['.monaco-editor'] }, { runOnly: { type: 'rule', values } }), rules);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target, any }) => `${id}: ${target.join(' ')}: ${any[0]?.message}`));
}

// readable are the rules of axe that every page keeps: those that the parts of others break are not among them.
export const readable = ['color-contrast', 'document-title', 'html-has-lang', 'image-alt', 'label', 'link-name', 'meta-viewport'];

// overflow is how many pixels of a page are to the right of its window.
export function overflow(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
}

// explorerReady waits until GraphiQL has its editors and the schema: before, a click on its buttons does nothing.
export async function explorerReady(page) {
  await page.getByRole('button', { name: /^Re-fetch GraphQL schema/, disabled: false }).waitFor();
  await page.waitForFunction(() => globalThis.__MONACO?.editor.getEditors().length === 4);
}

// Visit opens the explorer of a server anew for each test of a file, and after it holds what it asked for and
// complained of against the rules: no other host, no error, nothing against the policy.
export class Visit {
  page;
  requests;

  #server;
  #browser;
  #complaints;

  constructor(server, ready) {
    assert.ok(server, 'the tests need the URL of a running server; run them by run.sh');
    this.#server = server;
    before(async () => {
      this.#browser = await launch();
    });
    after(() => this.#browser?.close());
    beforeEach(async () => {
      const context = await this.#browser.newContext({ viewport: { width: 1440, height: 900 } });
      context.setDefaultTimeout(60_000);
      [this.requests, this.#complaints] = [[], []];
      this.page = await context.newPage();
      this.#watch();
      await this.page.goto(this.url);
      await ready(this.page);
    });
    afterEach(async () => {
      await this.page.context().close();
      assert.deepEqual([...new Set(this.requests.map(({ host }) => host))], [new URL(server).host], 'the page must reach no other host');
      assert.deepEqual(this.#complaints, [], 'the console must have no errors');
    });
  }

  get url() {
    return new URL('/playground', this.#server).href;
  }

  get endpoint() {
    return new URL('/graphql', this.#server).href;
  }

  #watch() {
    const note = (url, body) => this.requests.push({ host: new URL(url).host, url, body });
    this.page.on('request', (request) => note(request.url(), request.postData()));
    this.page.on('websocket', (socket) => note(socket.url(), null));
    this.page.on('pageerror', (error) => this.#complaints.push(error.message));
    this.page.on('console', (message) => {
      // The browser reports each refused query by itself; the page is to show it, and does.
      const refused = message.text().startsWith('Failed to load resource') && message.location().url === this.endpoint;
      if (['error', 'warning'].includes(message.type()) && !refused) this.#complaints.push(`${message.text()} (${message.location().url})`);
    });
  }

  // queries are the bodies of what was posted to the API, but for the introspection.
  queries() {
    return this.requests.filter(({ url, body }) => url === this.endpoint && !body.includes('__schema')).map(({ body }) => body);
  }

  // mutate sends a mutation that takes an id, with the page's token but beside the page, and gives its payload.
  async mutate(field, id) {
    const token = await this.page.getByLabel('Bearer token').inputValue();
    const { data, errors } = await (await fetch(this.endpoint, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
      body: JSON.stringify({ query: `mutation { ${field}(input: { id: "${id}" }) { deployment { id } } }` }),
    })).json();
    assert.equal(errors, undefined);
    return data[field];
  }

  async picture(name) {
    if (process.env.SCREENSHOT_DIR) await this.page.screenshot({ path: join(process.env.SCREENSHOT_DIR, `${name}.png`) });
  }
}
