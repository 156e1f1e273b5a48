import { ApolloServer } from '@apollo/server';
import fastifyApollo, { fastifyApolloDrainPlugin } from '@as-integrations/fastify';
import { batchedResolvers } from './dataloaders.mjs';
import { app } from './fastify.mjs';
import { schema } from './resolvers.mjs';

const server = new ApolloServer({ typeDefs: schema, resolvers: batchedResolvers, plugins: [fastifyApolloDrainPlugin(app)] });
await server.start();
app.register(fastifyApollo(server), { context: async (request) => ({ actor: request.actor, loaders: {} }) });

export const listen = (address) => app.listen(address);
