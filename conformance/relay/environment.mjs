// A Relay environment for Slipway.
import { createClient } from 'graphql-ws';
import relay from 'relay-runtime';
import { embedded } from '../schema.mjs';

const { Environment, Network, Observable, RecordSource, ROOT_TYPE, Store } = relay;

export function makeEnvironment({ url, token, introspection }) {
  const headers = { Authorization: `Bearer ${token}` };
  const socket = createClient({ url: url.replace(/^http/, 'ws'), connectionParams: headers });
  const parts = new Set(embedded(introspection));

  async function ask({ text: query }, variables) {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json', Accept: 'application/graphql-response+json' },
      body: JSON.stringify({ query, variables }),
    });
    return response.json();
  }

  const follow = ({ text: query }, variables) => Observable.create((sink) => socket.subscribe({ query, variables }, {
    ...sink,
    error: (refused) => sink.error(Array.isArray(refused) ? Object.assign(new Error(refused[0].message), { source: { errors: refused } }) : refused),
  }));

  const environment = new Environment({
    network: Network.create(ask, follow),
    store: new Store(new RecordSource()),
    getDataID: (value, type) => (parts.has(type) ? undefined : value.id),
    missingFieldHandlers: [{ kind: 'linked', handle: byId }],
  });
  return { environment, stop: () => socket.dispose() };
}

// byId finds the record of deployment(id:), node(id:) and their like where another field has brought it.
function byId(field, record, { id, ...others }) {
  return record?.getType() === ROOT_TYPE && id && Object.keys(others).length === 0 ? id : undefined;
}
