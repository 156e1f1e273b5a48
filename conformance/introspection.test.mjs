// What the endpoint tells of its schema is what the reference implementation tells of the published one.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { __Directive, __Schema, buildSchema, getIntrospectionQuery, graphqlSync } from 'graphql';
import { run } from './demo.mjs';

// The reference implementation has what is still a proposal: directives that are deprecated.
delete __Directive.getFields().isDeprecated;
delete __Directive.getFields().deprecationReason;
__Schema.getFields().directives.args.length = 0;

const published = buildSchema(await readFile(new URL('../schema.graphql', import.meta.url), 'utf8'));
const whole = getIntrospectionQuery({ specifiedByUrl: true, directiveIsRepeatable: true, schemaDescription: true, inputValueDeprecation: true, oneOf: true });

// The specification leaves the order of these open.
const unordered = new Set(['types', 'directives', 'possibleTypes', 'interfaces', 'locations']);

// members lists the members of a list or an object: the items of a list that has no order under their names.
function members(value, key) {
  if (!Array.isArray(value)) return Object.entries(value);
  return value.map((item, i) => [unordered.has(key) ? (item.name ?? item.k ?? item) : i, item]);
}

// differences lists where two answers differ, member by member; a member that is null is there, too.
function differences(told, expected, path = [], key = '') {
  if (told === null || expected === null || typeof told !== 'object' || typeof expected !== 'object') {
    return Object.is(told, expected) ? [] : [`${path.join('.')}: ${JSON.stringify(told)?.slice(0, 80)}, want ${JSON.stringify(expected)?.slice(0, 80)}`];
  }
  const [a, b] = [new Map(members(told, key)), new Map(members(expected, key))];
  const twice = a.size < members(told, key).length ? [`${path.join('.')}: one item twice`] : [];
  return twice.concat([...new Set([...a.keys(), ...b.keys()])]
    .flatMap((name) => differences(a.get(name), b.get(name), [...path, name], Array.isArray(told) ? '' : name)));
}

// same compares the answers of both.
async function same(query, variables) {
  const expected = graphqlSync({ schema: published, source: query, variableValues: variables });
  assert.equal(expected.errors, undefined);
  assert.deepEqual(differences(await run(query, variables), expected.data).slice(0, 50), []);
}

test('the whole schema is told as it is published', () => same(whole));

test('each type is told as it is published', async () => {
  const fragments = whole.slice(whole.indexOf('fragment '));
  for (const type of Object.keys(published.getTypeMap())) {
    await same(`query($name: String!) { __type(name: $name) { ...FullType } } ${fragments}`, { name: type });
  }
});

test('parts and other names of the schema are told as they are published', async () => {
  const all = `kind name description specifiedByURL isOneOf ofType { name }
    interfaces { name } possibleTypes { name }`;
  await same(`{ nothing: __type(name: "Nothing") { name } root: __schema { q: queryType { n: name __typename } m: mutationType { name } s: subscriptionType { name } } }`);
  await same(`{ __schema { __typename types { k: kind name
    none: fields { n: name a: args { n: name } } silent: fields(includeDeprecated: false) { name }
    every: fields(includeDeprecated: true) { name isDeprecated deprecationReason args(includeDeprecated: false) { name isDeprecated } } } } }`);
  await same(`{ __schema { types { name in: inputFields { name defaultValue } some: inputFields(includeDeprecated: false) { name }
    every: inputFields(includeDeprecated: true) { name isDeprecated deprecationReason type { kind name } }
    values: enumValues { name } all: enumValues(includeDeprecated: true) { name isDeprecated deprecationReason } } } }`);
  await same(`{ __schema { directives { name isRepeatable locations args { name defaultValue type { ...T } } } } } fragment T on __Type { ${all} }`);
  // Below a list and a type that is not null there are members of all types.
  await same(`query($name: String!) { __type(name: $name) { fields { name type { ${all} fields { name } inputFields { name } enumValues { name }
    ofType { ${all} fields { name } enumValues { name } ofType { ${all} } } } } } }`, { name: 'Project' });
});
