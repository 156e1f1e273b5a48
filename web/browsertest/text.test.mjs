// What the pages read and write, without a browser or a server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { body, objectFault } from '../lite/request.js';
import { layout } from '../lite/result.js';
import { eventsOf } from '../lite/stream.js';
import { operationOf } from '../playground/src/operation.js';

test('layout indents and keeps digits, escapes and empty brackets', () => {
  const text = '{"a":12345678901234567890.10,"b":[],"c":{},"d":[{"e":"\\u00e9, {\\""},[null]]}';
  const laid = layout(text);
  assert.ok(laid.includes('12345678901234567890.10') && laid.includes('\\u00e9, {\\""'));
  assert.equal(layout('{"b":[],"c":{},"d":[{"e":"x, {"},[null]]}'), JSON.stringify({ b: [], c: {}, d: [{ e: 'x, {' }, [null]] }, null, 2));
});

test('a request has its variables as they were written, or none', () => {
  assert.equal(body('{ a }', ' \n'), '{"query":"{ a }"}');
  assert.equal(body('{ a }', '{"n": 1.0}'), '{"query":"{ a }","variables":{"n": 1.0}}');
});

test('what is not one JSON object is named', () => {
  assert.equal(objectFault('variables', ''), '');
  assert.equal(objectFault('variables', '{"a": [1]}'), '');
  for (const text of ['[1]', 'null', '1']) assert.equal(objectFault('headers', text), 'The headers are JSON, but no object.', text);
  for (const text of ['{', '{"a": 1,}', "{'a': 1}"]) assert.match(objectFault('variables', text), /^The variables are not JSON: ./, text);
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

test('the operation of a request is the one that is named, or the only one', () => {
  const two = 'query A { a } fragment F on T { f } subscription B { b }';
  for (const [query, operationName, kind, name] of [
    [two, 'B', 'subscription', 'B'],
    [two, 'A', 'query', 'A'],
    [two, 'Other', 'query', 'Other'],
    ['mutation M { m }', 'OfTheTabBefore', 'mutation', 'M'],
    ['{ a }', 'OfTheTabBefore', 'query', undefined],
    ['subscription { s }', undefined, 'subscription', undefined],
    ['subscription {', 'S', 'query', 'S'],
  ]) assert.deepEqual(operationOf({ query, operationName }), { kind, name }, query);
});
