import Fastify from 'fastify';
import mercurius from 'mercurius';
import { authenticate, unauthenticated } from './authentication.mjs';
import { loaders, resolvers, schema } from './resolvers.mjs';

const app = Fastify();

// A request has its actor.
app.decorateRequest('actor', null);
app.addHook('onRequest', async (request, reply) => {
  request.actor = await authenticate(request.headers.authorization);
  if (!request.actor) return reply.code(401).send(unauthenticated);
});

// Without their cache, loaders learn which fields are asked for, and need not serialize every object.
const uncached = (fields) => Object.fromEntries(Object.entries(fields).map(([field, loader]) => [field, { loader, opts: { cache: false } }]));

app.register(mercurius, {
  schema,
  resolvers,
  loaders: Object.fromEntries(Object.entries(loaders).map(([type, fields]) => [type, uncached(fields)])),
  jit: 1,
  context: (request) => ({ actor: request.actor }),
});

export const listen = (address) => app.listen(address);
