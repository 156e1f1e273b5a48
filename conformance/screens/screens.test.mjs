// The screens over plain HTTP, with their costs, and through each client, which must return the plain answer. Clients
// with a cache read it back from there.
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { after, test } from 'node:test';
import { gql } from '@apollo/client';
import { Client, fetchExchange } from '@urql/core';
import { GraphQLClient } from 'graphql-request';
import relay from 'relay-runtime';
import * as apollo from '../apollo/client.mjs';
import { admin, adminToken, endpoint, introspection, narrow, run } from '../demo.mjs';
import { artifact, screenName } from '../relay/artifacts.mjs';
import { makeEnvironment } from '../relay/environment.mjs';
import * as urql from '../urql/client.mjs';
import { lacking, screens } from './screens.mjs';

const { createOperationDescriptor, fetchQuery } = relay;
const connection = { url: endpoint, token: adminToken, introspection };

// post returns the whole answer of a server.
async function post(url, headers, { text: query }, variables) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json', Accept: 'application/json', 'Slipway-Cost': 'true' },
    body: JSON.stringify({ query, variables }),
  });
  return response.json();
}

// makers make the clients. Each returns a function that returns the data of a screen. If the client has a cache, the
// data is read from it, and it also holds the screens before.
const makers = {
  'graphql-request'() {
    const client = new GraphQLClient(endpoint, { headers: admin });
    return ({ text }, variables) => client.request(text, variables);
  },

  urql() {
    const client = new Client({ url: endpoint, fetchOptions: { headers: admin }, exchanges: [fetchExchange] });
    return async ({ text }, variables) => {
      const { data, error } = await client.query(text, variables).toPromise();
      assert.equal(error, undefined);
      return data;
    };
  },

  'urql with its cache'() {
    // The cache warns of each record whose id is not read, and keeps it with its parent.
    const logger = (level, message) => assert.ok(level === 'debug' || message.startsWith('Invalid key'), message);
    const { client, stop } = urql.makeClient({ ...connection, logger });
    after(stop);
    return async ({ text }, variables) => {
      const { error } = await client.query(text, variables, { requestPolicy: 'network-only' }).toPromise();
      assert.equal(error, undefined);
      return (await client.query(text, variables, { requestPolicy: 'cache-only' }).toPromise()).data;
    };
  },

  'Apollo Client'() {
    const { client, stop } = apollo.makeClient(connection);
    after(stop);
    return async ({ text }, variables) => {
      const query = gql(text);
      await client.query({ query, variables, fetchPolicy: 'network-only' });
      return (await client.query({ query, variables, fetchPolicy: 'cache-only' })).data;
    };
  },

  Relay() {
    const { environment, stop } = makeEnvironment(connection);
    after(stop);
    return async (screen, variables) => {
      const query = artifact(screenName(screen));
      await fetchQuery(environment, query, variables).toPromise();
      const { data, isMissingData } = environment.lookup(createOperationDescriptor(query, variables).fragment);
      assert.equal(isMissingData, false);
      return data;
    };
  },
};

const clients = Object.entries(makers).map(([name, make]) => ({ name, ask: make() }));

// plain returns data without the fields that clients add.
const plain = (data) => JSON.parse(JSON.stringify(data, (key, value) => (key === '__typename' ? undefined : value)));

test('each file of a screen is in the table of the guide', async () => {
  const files = (await readdir(new URL('.', import.meta.url))).filter((file) => file.endsWith('.graphql'));
  const named = ['fragments', ...screens.map(({ name }) => name)].map((name) => `${name}.graphql`);
  assert.deepEqual(files.sort(), named.sort());
});

for (const screen of screens) {
  test(`the screen ${screen.name}`, async (t) => {
    const variables = await screen.variables(run);
    const { data, errors, extensions } = await post(endpoint, admin, screen, variables);

    await t.test('shows something', () => {
      assert.equal(errors, undefined);
      assert.deepEqual(lacking(screen, data), []);
    });

    await t.test('costs what the guide names before it runs, and then what it used', async () => {
      const { errors: [{ extensions: { metadata } }] } = await post(narrow.endpoint, narrow.admin, screen, variables);
      assert.equal(metadata.limit, 'cost');
      assert.equal(metadata.found, screen.cost);
      const { used, limit, left, capacity } = extensions.cost;
      assert.ok(used > 0 && used <= limit && left <= capacity, JSON.stringify(extensions.cost));
    });

    for (const { name, ask } of clients) {
      await t.test(`is the same by ${name}`, async () => assert.deepEqual(plain(await ask(screen, variables)), data));
    }
  });
}
