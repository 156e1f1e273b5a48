import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { check, release } from './schema.mjs';

const first = 'type Query {\n  a: Int\n  b(x: Int): Int\n}\n';
const changes = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n';

// project makes a folder with files of the given contents.
async function project(t, files) {
  const root = await mkdtemp(join(tmpdir(), 'slipway-schema-'));
  t.after(() => rm(root, { recursive: true }));
  const write = async (file, content) => {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), content);
  };
  for (const [file, content] of Object.entries({ '.ci/schema/accepted.json': '{}', ...files })) await write(file, content);
  return { root, write, read: (file) => readFile(join(root, file), 'utf8') };
}

// says wants what a command does with a folder to be refused or not, with some words.
async function says(refused, words, command, ...args) {
  const { wrong, said } = await command(...args);
  assert.equal(wrong.length > 0, refused, wrong.join('\n'));
  assert.ok((refused ? wrong.join('\n') : said).includes(words), `want ${words}\n${wrong.join('\n')}${said}`);
}

test('a release is cut, and later schemas are held against it', async (t) => {
  const { root, write, read } = await project(t, { 'schema.graphql': first, 'CHANGELOG.md': changes });
  await says(false, 'nothing is released yet', check, root);
  await says(false, 'tag the commit v0.1.0', release, root, '0.1.0');
  assert.match(await read('CHANGELOG.md'), /^## \[Unreleased\]\n\n## \[0\.1\.0\] - \d{4}-\d\d-\d\d\n\n### Added\n/m);
  assert.ok((await read('.ci/schema/schema.released.graphql')).endsWith(first));
  await says(false, 'clients of 0.1.0 go on', check, root);
  await says(true, 'has nothing under', release, root, '0.2.0');

  await write('schema.graphql', `${first}type More { c: Int }\n`);
  await says(false, 'clients of 0.1.0 go on', check, root);

  await write('schema.graphql', 'type Query {\n  b(x: Int, y: Int!): Int\n}\n');
  await says(true, 'schema.graphql breaks clients of 0.1.0:\n  Query.a FIELD_REMOVED: ', check, root);
  await says(true, 'Query.b.y FIELD_ARGUMENT_ADDED', check, root);
});

test('a break is taken where somebody says why, and raises the version', async (t) => {
  const { root, write, read } = await project(t, {
    'schema.graphql': 'type Query {\n  b(x: Int): Int\n}\n', '.ci/schema/schema.released.graphql': `# Slipway 0.1.0\n${first}`, 'CHANGELOG.md': changes,
  });
  const accept = (breaks) => write('.ci/schema/accepted.json', JSON.stringify(breaks));
  await says(true, 'breaks clients of 0.1.0', check, root);
  for (const why of ['', 'no', 7]) {
    await accept({ 'Query.a FIELD_REMOVED': why });
    await says(true, 'must say why', check, root);
  }
  await accept({ 'Query.a FIELD_REMOVED': 'nobody could use it', 'Query.b FIELD_REMOVED': 'nobody could use it' });
  await says(true, '"Query.b FIELD_REMOVED" is accepted, and is no break', check, root);
  await accept({ 'Query.a FIELD_REMOVED': 'nobody could use it' });
  await says(false, 'but for 1 accepted breaks', check, root);

  for (const [version, why] of [['0.1.1', 'must be at least 0.2.0'], ['0.1.0', 'must be after 0.1.0'], ['0.0.9', 'must be after'], ['1', 'three numbers'], ['v1.0.0', 'three numbers']]) {
    await says(true, why, release, root, version);
  }
  assert.equal(await read('CHANGELOG.md'), changes);
  await says(false, 'v0.2.0', release, root, '0.2.0');
  assert.equal(await read('.ci/schema/accepted.json'), '{}\n');
  await says(false, 'clients of 0.2.0 go on', check, root);
});

test('a deprecation says what to use and when the member goes', async (t) => {
  const { root, write } = await project(t, { '.ci/schema/schema.released.graphql': `# Slipway 0.1.0\n${first}` });
  const reasons = { '': true, '(reason: "Unused.")': true, '(reason: "Use b. Goes in 2.1.")': true, '(reason: "Use b. Goes in 2.0.")': false };
  for (const [reason, refused] of Object.entries(reasons)) {
    await write('schema.graphql', first.replace('a: Int', `a: Int @deprecated${reason}`));
    await says(refused, refused ? 'the reason of Query.a must be as "Use x. Goes in 2.0."' : 'clients of 0.1.0 go on', check, root);
  }
  const values = 'enum E { X Y @deprecated }\ninput I { e: E  f: Int @deprecated }\n';
  await write('schema.graphql', `${first.replace('x: Int', 'x: Int @deprecated, i: I')}${values}`);
  for (const member of ['E.Y', 'I.f', 'Query.b.x']) await says(true, `the reason of ${member} must`, check, root);
});

test('from 1.0.0 on nothing goes that was not deprecated', async (t) => {
  const { root, write } = await project(t, {
    'schema.graphql': first.replace('  a: Int\n', ''), 'CHANGELOG.md': changes,
    '.ci/schema/accepted.json': JSON.stringify({ 'Query.a FIELD_REMOVED': 'replaced by b for a year' }),
  });
  const released = (version, text) => write('.ci/schema/schema.released.graphql', `# Slipway ${version}\n${text}`);
  await released('1.2.0', first);
  await says(true, 'schema.graphql lacks Query.a: deprecate it', check, root);
  await released('0.2.0', first);
  await says(false, 'but for 1 accepted breaks', check, root);
  await released('1.2.0', first.replace('a: Int', 'a: Int @deprecated(reason: "Use b. Goes in 2.0.")'));
  await says(false, 'but for 1 accepted breaks', check, root);
  await says(true, 'must be at least 2.0.0', release, root, '1.3.0');
  await released('1.2.0', first.replace('a: Int', 'a: Int @deprecated(reason: "Use b. Goes in 3.0.")'));
  await says(true, 'must be at least 3.0.0', release, root, '2.0.0');
  await released('1.2.0', first.replace('a: Int', 'a: Int @deprecated(reason: "Use b. Goes in 2.0.")'));
  await says(false, 'v2.0.0', release, root, '2.0.0');
});
