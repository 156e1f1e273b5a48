import mercurius from 'mercurius';
import { app } from './fastify.mjs';
import { loaders, resolvers, schema } from './resolvers.mjs';

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
