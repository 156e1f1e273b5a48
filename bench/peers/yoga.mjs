import { createServer } from 'node:http';
import { useGraphQlJit } from '@envelop/graphql-jit';
import { createSchema, createYoga } from 'graphql-yoga';
import { authenticate, unauthenticated } from './authentication.mjs';
import { batchedResolvers } from './dataloaders.mjs';
import { schema } from './resolvers.mjs';

const actors = new WeakMap();
const authentication = {
  async onRequest({ request, fetchAPI, endResponse }) {
    const actor = await authenticate(request.headers.get('authorization'));
    if (actor) actors.set(request, actor);
    else endResponse(fetchAPI.Response.json(unauthenticated, { status: 401 }));
  },
};
const yoga = createYoga({
  schema: createSchema({ typeDefs: schema, resolvers: batchedResolvers }),
  plugins: [authentication, useGraphQlJit()],
  context: ({ request }) => ({ actor: actors.get(request), loaders: {} }),
  graphiql: false,
  landingPage: false,
  logging: 'error',
  multipart: false,
});

export const listen = (address) => createServer(yoga).listen(address);
