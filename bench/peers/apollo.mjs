import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { GraphQLError } from 'graphql';
import { authenticate, unauthenticated } from './authentication.mjs';
import { batchedResolvers } from './dataloaders.mjs';
import { schema } from './resolvers.mjs';
import { serve } from './workers.mjs';

const { message, extensions } = unauthenticated.errors[0];
const server = new ApolloServer({ typeDefs: schema, resolvers: batchedResolvers });
await serve((listen) => startStandaloneServer(server, {
  listen,
  async context({ req }) {
    const actor = await authenticate(req.headers.authorization);
    if (!actor) throw new GraphQLError(message, { extensions: { ...extensions, http: { status: 401 } } });
    return { actor, loaders: {} };
  },
}));
