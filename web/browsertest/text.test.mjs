// The explorer's reading of JSON and GraphQL text, without a browser or a server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations, tokens } from '../lite/graphql.js';
import { fault, layout } from '../lite/json.js';
import { Schema } from '../lite/schema.js';
import { eventsOf } from '../lite/stream.js';
import { snippet } from '../lite/snippet.js';

test('a fault of JSON is named by its place, what was expected and what was found', () => {
  const cases = [
    ['[1]', 1, 1, 'expected {, found ['],
    ['{"a": 01}', 1, 7, 'expected a value, found 01, which is not JSON'],
    ['{"a": 1\n "b": 2}', 2, 2, 'expected , or }, found "b"'],
    ['{"a": [1,]}', 1, 10, 'expected a value, found ]'],
    ['{a: 1}', 1, 2, 'expected a name in quotes or }, found a, which is not JSON'],
    ['{"a": "x}', 1, 7, 'expected a value, found the broken string "x}'],
    ['{"a": 1, "\\u0061": 2}', 1, 10, 'the name "\\u0061" is there twice'],
    ['{"a": ', 1, 7, 'expected a value, found the end of the text'],
    ['{} {}', 1, 4, 'expected the end, found {'],
  ];
  for (const [text, line, column, message] of cases) assert.deepEqual(fault(text), { line, column, message }, text);
});

test('objects are refused exactly when JSON.parse refuses them', () => {
  const parts = ['{', '}', '[', ']', ',', ':', '"a"', '"b":', '"\\n"', '"\\x"', '-1.5e+3', '01', '1.', 'true', 'nul', ' ', '\n', "'"];
  let seed = 1;
  const next = (below) => {
    seed = (seed * 48271) % 2147483647;
    return seed % below;
  };
  for (let round = 0; round < 50_000; round++) {
    const text = `{"k":${Array.from({ length: 1 + next(7) }, () => parts[next(parts.length)]).join('')}}`;
    const wrong = fault(text);
    if (wrong?.message.endsWith('is there twice')) continue;
    let parses = true;
    try {
      JSON.parse(text);
    } catch {
      parses = false;
    }
    assert.equal(wrong === null, parses, text);
  }
});

test('layout indents and keeps digits, escapes and empty brackets', () => {
  const text = '{"a":12345678901234567890.10,"b":[],"c":{},"d":[{"e":"\\u00e9, {"},[null]]}';
  const laid = layout(text);
  assert.ok(laid.includes('12345678901234567890.10') && laid.includes('\\u00e9'));
  assert.equal(layout('{"b":[],"c":{},"d":[{"e":"x, {"},[null]]}'), JSON.stringify({ b: [], c: {}, d: [{ e: 'x, {' }, [null]] }, null, 2));
});

test('operations are found past comments, strings, fragments and default values', () => {
  const document = `# query Comment { a }
    query First($in: In = {query: "mutation No { a }"}) @on(x: {y: 1}) { a(text: """ } query B { """) { b } }
    fragment Part on query { c }
    mutation query { d }
    subscription Third { e }`;
  assert.deepEqual(operations(document).map(({ kind, name }) => `${kind} ${name}`), ['query First', 'mutation query', 'subscription Third']);
  assert.deepEqual(operations('{ a { b } }'), [{ kind: 'query', name: '' }]);
});

test('the tokens of any text are the whole text', () => {
  for (const text of ['{ a(b: "c', '"""open', 'ä ☃ 😀 } ) $ @ ...', '']) {
    assert.equal([...tokens(text)].map((token) => token.text).join(''), text);
  }
});

test('a field is inserted with its required arguments, in an operation of its own outside of any', () => {
  const id = { kind: 'NON_NULL', ofType: { kind: 'SCALAR', name: 'ID' } };
  const thing = { name: 'Thing', kind: 'OBJECT', fields: [{ name: 'id', args: [], type: id }] };
  const field = { name: 'thing', args: [{ name: 'id', type: id, defaultValue: null }], type: { kind: 'OBJECT', name: 'Thing' } };
  const query = { name: 'Query', kind: 'OBJECT', fields: [field] };
  const schema = new Schema({ types: [query, thing, { name: 'ID', kind: 'SCALAR' }], queryType: { name: 'Query' } });
  const after = (document, caret) => {
    const { text, at } = snippet(schema, query, field, document, caret);
    return document.slice(0, at) + text + document.slice(at);
  };
  assert.equal(after('', 0), 'query Thing {\n  thing(id: "") {\n    id\n  }\n}\n');
  assert.equal(after('{\n  a\n}', 5), '{\n  a\n  thing(id: "") {\n    id\n  }\n}');
  assert.equal(after('{ }', 1), '{\n  thing(id: "") {\n    id\n  }\n }');
  assert.equal(after('mutation A { a }', 14), 'mutation A { a }\n\nquery Thing {\n  thing(id: "") {\n    id\n  }\n}\n');
});

test('an inserted argument has every member that is required, and exactly one of a choice', () => {
  const must = (ofType) => ({ kind: 'NON_NULL', ofType });
  const input = (name, type) => ({ name, type, defaultValue: null });
  const number = { kind: 'SCALAR', name: 'Int' };
  const choice = { name: 'Choice', kind: 'INPUT_OBJECT', isOneOf: true, inputFields: [input('many', { kind: 'LIST', ofType: number }), input('one', number)] };
  const wish = { name: 'Wish', kind: 'INPUT_OBJECT', inputFields: [input('size', must({ kind: 'ENUM', name: 'Size' })), input('choice', must(choice)), input('note', number)] };
  const field = { name: 'grant', args: [input('wish', must(wish)), input('first', number)], type: number };
  const mutation = { name: 'Mutation', kind: 'OBJECT', fields: [field] };
  const size = { name: 'Size', kind: 'ENUM', enumValues: [{ name: 'SMALL' }, { name: 'LARGE' }] };
  const schema = new Schema({ types: [mutation, wish, choice, size, { ...number }], mutationType: { name: 'Mutation' } });
  assert.equal(snippet(schema, mutation, field, '', 0).text, 'mutation Grant {\n  grant(wish: {size: SMALL, choice: {many: []}})\n}\n');
});

test('events are read however the stream is cut', async () => {
  const text = ':\n\nevent: next\ndata: {"a":"é"}\n\nevent: complete\ndata:\n\n';
  const bytes = new TextEncoder().encode(text);
  for (let size = 1; size <= bytes.length; size++) {
    const stream = new ReadableStream({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
        controller.close();
      },
    });
    const found = [];
    for await (const { name, data } of eventsOf(stream)) found.push([name, data]);
    assert.deepEqual(found, [['', ''], ['next', '{"a":"é"}'], ['complete', '']], `in pieces of ${size} bytes`);
  }
});
