// urql for Slipway, with its normalized cache.
import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';
import { createClient } from 'graphql-ws';
import { connections, embedded } from '../schema.mjs';

// makeClient gives a client whose subscriptions go over server-sent events, or over a WebSocket.
export function makeClient({ url, token, introspection, webSocket = false, ...cache }) {
  const headers = { Authorization: `Bearer ${token}` };
  const socket = createClient({ url: url.replace(/^http/, 'ws'), connectionParams: headers });
  const overSocket = subscriptionExchange({
    forwardSubscription: ({ query, variables }) => ({
      subscribe: (sink) => ({ unsubscribe: socket.subscribe({ query, variables }, sink) }),
    }),
  });
  const client = new Client({
    url,
    fetchOptions: { headers },
    fetchSubscriptions: !webSocket,
    exchanges: [cacheExchange({ ...makeCache(introspection), ...cache }), ...(webSocket ? [overSocket] : []), fetchExchange],
  });
  return { client, stop: () => socket.dispose() };
}

function makeCache(introspection) {
  return {
    schema: introspection,
    keys: Object.fromEntries(embedded(introspection).map((type) => [type, () => null])),
    resolvers: Object.fromEntries(Object.entries(connections(introspection)).map(([type, lists]) => [type,
      Object.fromEntries(Object.keys(lists).map((field) => [field, relayPagination()])),
    ])),
    optimistic: {
      cancelDeployment: ({ input }) => ({
        __typename: 'CancelDeploymentPayload',
        deployment: { __typename: 'Deployment', id: input.id, status: 'CANCELED' },
      }),
    },
  };
}
