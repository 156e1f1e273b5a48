// docs/frontend.md shows the set-ups of the programs here, to the letter.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

const page = new URL('../docs/frontend.md', import.meta.url);
const text = await readFile(page, 'utf8');

test('each block of code on the page is the file that it names', async () => {
  const blocks = [...text.matchAll(/(.*)\n\n```\w+\n([^]*?)```\n/g)];
  assert.equal(blocks.length * 2, text.match(/^```/gm).length);
  for (const [, line, code] of blocks) {
    const [, path] = line.match(/^\[`.*`\]\((.*)\):$/) ?? assert.fail(`no file above a block: ${line}`);
    assert.equal(code, await readFile(new URL(path, page), 'utf8'), path);
  }
});
