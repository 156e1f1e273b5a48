// The operations by openapi-fetch, over the types of openapi-typescript.
import createClient from 'openapi-fetch';
import type { Connect } from './api.js';
import type { paths } from './generated/openapi-typescript.js';

export const connect: Connect = (baseUrl, token) => {
  const client = createClient<paths>({ baseUrl, headers: token ? { Authorization: `Bearer ${token}` } : {} });
  return {
    update: (id, body, header, headers) =>
      client.PATCH('/default-value-definitions/{id}', { params: { path: { id }, header }, body, headers }),
    list: (query, headers) => client.GET('/module-definitions', { params: { query }, headers }),
    get: (id, header, headers) => client.GET('/deployments/{id}', { params: { path: { id }, header }, headers }),
    rollback: (id, header, headers) =>
      client.POST('/deployments/{id}/rollback', { params: { path: { id }, header }, headers }),
    redeploy: (id, header, headers) =>
      client.POST('/deployments/{id}/redeploy', { params: { path: { id }, header }, headers }),
  };
};
