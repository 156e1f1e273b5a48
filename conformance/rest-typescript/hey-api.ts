// The operations by the SDK of @hey-api/openapi-ts.
import type { Connect } from './api.js';
import { createClient } from './generated/hey-api/client/index.js';
import { getDeployment, listModuleDefinitions, redeployDeployment, rollbackDeployment, updateDefaultValueDefinition } from './generated/hey-api/sdk.gen.js';

export const connect: Connect = (baseUrl, token) => {
  const client = createClient({ baseUrl, auth: () => token });
  return {
    update: (id, body, header, more) =>
      updateDefaultValueDefinition({ client, path: { id }, body, headers: { ...header, ...more } }),
    list: (query, more) => listModuleDefinitions({ client, query, headers: { ...more } }),
    get: (id, header, more) => getDeployment({ client, path: { id }, headers: { ...header, ...more } }),
    rollback: (id, header, more) => rollbackDeployment({ client, path: { id }, headers: { ...header, ...more } }),
    redeploy: (id, header, more) => redeployDeployment({ client, path: { id }, headers: { ...header, ...more } }),
  };
};
