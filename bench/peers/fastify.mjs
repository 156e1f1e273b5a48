// The Fastify server of those that are plugins of it. A request has its actor.

import Fastify from 'fastify';
import { authenticate, unauthenticated } from './authentication.mjs';

export const app = Fastify();

app.decorateRequest('actor', null);
app.addHook('onRequest', async (request, reply) => {
  request.actor = await authenticate(request.headers.authorization);
  if (!request.actor) return reply.code(401).send(unauthenticated);
});
