// The schema that the endpoint tells, read by the reference implementation, is the published one.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { buildClientSchema, buildSchema, lexicographicSortSchema, printSchema } from 'graphql';
import { introspection } from './demo.mjs';

const print = (schema) => printSchema(lexicographicSortSchema(schema));

test('the schema comes back from introspection as it is published', async () => {
  const told = buildClientSchema(introspection);
  const published = buildSchema(await readFile(new URL('../schema.graphql', import.meta.url), 'utf8'));
  assert.equal(print(told), print(published));
});
