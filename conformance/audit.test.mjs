// The audits of GraphQL over HTTP.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serverAudits } from 'graphql-http';
import { endpoint } from './demo.mjs';

const audits = serverAudits({ url: endpoint });

test('there are the audits that the endpoint is known to meet', () => assert.equal(audits.length, 61));

for (const { id, name, fn } of audits) {
  test(`${id} ${name}`, async () => {
    const { status, reason } = await fn();
    assert.equal(status, 'ok', reason);
  });
}
