// The endpoint by graphql-codegen: a program in strict TypeScript is compiled from the schema, and runs.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { adminToken, endpoint, run, unknown } from '../demo.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const bin = (name, ...args) => execFileSync(`../node_modules/.bin/${name}`, args, { cwd: here, stdio: ['ignore', 'inherit', 'inherit'] });
bin('graphql-codegen', '--config', 'codegen.ts', '--silent');
bin('tsc', '--project', '.');

const { makeClient } = await import('./built/client.js');
const { inputs, publishTwice, roundTrip, standing } = await import('./built/program.js');
const ask = makeClient(endpoint, adminToken);

test('there is a program for each variant', async () => {
  const { __type: type } = await run('{ __type(name: "InputProperty") { possibleTypes { name } } }');
  assert.equal(Object.keys(inputs).length, type.possibleTypes.length);
});

// whole asserts that what was read has every member that was written.
function whole(read, sent) {
  for (const [name, value] of Object.entries(sent)) {
    if (name === 'itemInputs' || name === 'mappedInputs') {
      value.forEach((input, i) => whole(read[name][i], Object.values(input)[0]));
    } else if (name === 'values') {
      assert.equal(read.values.options.length, value.length);
      value.forEach((option, i) => assert.deepEqual(read.values.options[i].value, option.value ?? option.fields ?? option));
    } else if (name === 'itemTitle' || name === 'key') {
      whole(read[name], value);
    } else {
      assert.deepEqual(read[name], value, name);
    }
  }
}

for (const [variant, input] of Object.entries(inputs)) {
  test(`${variant} is written, read and written back as it was read`, async () => {
    const { before, after, changes } = await roundTrip(ask, input, `codegen-${variant}`);
    whole(before.schema, input[variant]);
    assert.deepEqual(changes, []);
    assert.deepEqual(after, before);
  });
}

test('a version with every variant is published again from what was read of it', async () => {
  const [first, second] = await publishTwice(ask, 'every-input');
  assert.deepEqual(second, first);
  const { values, showWhen } = first.at(-1);
  assert.deepEqual([values, showWhen], [{ source: 'projects', params: {} }, { public: true }]);
});

test('scalars and enums are what their types say', async () => {
  const lines = await standing(ask, 20);
  assert.equal(lines.length, 20);
  for (const line of lines) assert.match(line, /^(may be|will be|is being|was) \d{4} (\d{4}|-)$/);
});

test('what is refused is thrown with its code and its place', async () => {
  const refused = { boolean: { id: 'a', label: 'A', default: 'yes' } };
  await assert.rejects(roundTrip(ask, refused, 'codegen-refused'), ({ refusals: [{ path, extensions }] }) => {
    assert.deepEqual(path, ['createDefaultValueDefinition']);
    assert.equal(extensions.metadata.violations[0].pointer, '/input/schema/default');
    return /^slipway:/.test(extensions.code);
  });
  const both = { section: { id: 'a', label: 'A' }, text: { id: 'b', label: 'B' } };
  await assert.rejects(roundTrip(ask, both, 'codegen-both'), ({ refusals: [{ extensions }] }) => extensions.code === 'slipway:Document:VARIABLES_INVALID');
});
