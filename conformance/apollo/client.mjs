// Apollo Client for Slipway.
import { ApolloClient, ApolloLink, defaultDataIdFromObject, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { relayStylePagination } from '@apollo/client/utilities';
import { OperationTypeNode } from 'graphql';
import { createClient } from 'graphql-ws';
import { connections, embedded, possibleTypes } from '../schema.mjs';

export function makeClient({ url, token, introspection }) {
  const headers = { Authorization: `Bearer ${token}` };
  const http = new HttpLink({ uri: url, headers });
  const socket = createClient({ url: url.replace(/^http/, 'ws'), connectionParams: headers });
  const subscribes = ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION;
  const client = new ApolloClient({
    link: ApolloLink.split(subscribes, new GraphQLWsLink(socket), http),
    cache: makeCache(introspection),
  });
  return { client, stop: () => { client.stop(); return socket.dispose(); } };
}

function makeCache(introspection) {
  const parts = new Set(embedded(introspection));
  return new InMemoryCache({
    possibleTypes: possibleTypes(introspection),
    dataIdFromObject: (object) => (parts.has(object.__typename) ? undefined : defaultDataIdFromObject(object)),
    typePolicies: Object.fromEntries(Object.entries(connections(introspection)).map(([type, lists]) => [type, {
      fields: Object.fromEntries(Object.entries(lists).map(([field, filters]) => [field, relayStylePagination(filters)])),
    }])),
  });
}
