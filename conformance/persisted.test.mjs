// Persisted documents by Apollo Client: its persisted link sends the hash of a document, and the text only where it
// is told to.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ApolloClient, HttpLink, InMemoryCache, gql } from '@apollo/client/core';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { admin, endpoint } from './demo.mjs';

const sha256 = (text) => createHash('sha256').update(text).digest('hex');
const [[id, text]] = Object.entries(JSON.parse(readFileSync(new URL('trusted-documents.json', import.meta.url))));

// connect gives a client, and the requests that it sends, with their answers.
function connect(headers, options = {}) {
  const sent = [];
  const link = new PersistedQueryLink({ sha256, ...options }).concat(new HttpLink({
    uri: endpoint,
    headers,
    fetch: async (url, init) => {
      const answer = await fetch(url, init);
      const asked = init.method === 'GET' ? Object.fromEntries(new URL(url).searchParams) : JSON.parse(init.body);
      sent.push({ method: init.method, withText: 'query' in asked, answer });
      return answer;
    },
  }));
  return { client: new ApolloClient({ link, cache: new InMemoryCache() }), sent };
}

const steps = (sent) => sent.map(({ method, withText }) => `${method} ${withText ? 'text' : 'hash'}`);

for (const useGETForHashedQueries of [false, true]) {
  test(`a hash that is not known makes the client send texts (${useGETForHashedQueries ? 'GET' : 'POST'})`, async () => {
    const { client, sent } = connect(admin, { useGETForHashedQueries });
    const { data } = await client.query({ query: gql('query { viewer { role } }') });
    assert.equal(data.viewer.role, 'ADMIN');
    assert.deepEqual(steps(sent), [useGETForHashedQueries ? 'GET hash' : 'POST hash', 'POST text']);
    await client.query({ query: gql('query { viewer { name } }') });
    assert.deepEqual(steps(sent).slice(2), ['POST text'], 'the server is not asked by a hash again');
  });

  test(`a trusted document is found by its hash (${useGETForHashedQueries ? 'GET' : 'POST'})`, async () => {
    const { client, sent } = connect(admin, { useGETForHashedQueries });
    const { data } = await client.query({ query: gql(text), variables: { first: 2 } });
    assert.equal(data.moduleDefinitions.nodes.length, 2);
    assert.deepEqual(steps(sent), [useGETForHashedQueries ? 'GET hash' : 'POST hash']);
    assert.equal(sent[0].answer.headers.get('cache-control'), 'no-store');
  });
}

test('caches may keep what a trusted document tells everybody', async () => {
  const { client, sent } = connect({}, { useGETForHashedQueries: true });
  const { data } = await client.query({ query: gql(text), variables: { first: 1 } });
  assert.equal(data.moduleDefinitions.nodes.length, 1);
  const { headers, url } = sent[0].answer;
  assert.equal(headers.get('cache-control'), 'public, max-age=60');
  const again = await fetch(url, { headers: { Accept: headers.get('content-type'), 'If-None-Match': headers.get('etag') } });
  assert.equal(again.status, 304);
});

test('a document is named by its id', async () => {
  const ask = (init, query = '') => fetch(endpoint + query, { ...init, headers: { ...admin, 'Content-Type': 'application/json' } });
  const post = await ask({ method: 'POST', body: JSON.stringify({ documentId: id, variables: { first: 1 } }) });
  assert.equal((await post.json()).data.moduleDefinitions.nodes.length, 1);
  const get = await ask({}, `?documentId=${id}&variables=${encodeURIComponent('{"first":1}')}`);
  assert.equal((await get.json()).data.moduleDefinitions.nodes.length, 1);
  const unknown = await ask({ method: 'POST', body: JSON.stringify({ documentId: 'nothing' }) });
  assert.equal(unknown.status, 404);
  assert.equal((await unknown.json()).errors[0].extensions.code, 'slipway:Document:NOT_FOUND');
});
