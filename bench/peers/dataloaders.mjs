// The loaders as resolvers, for servers that have none of their own: each field of a request has a DataLoader.

import DataLoader from 'dataloader';
import { loaders, resolvers } from './resolvers.mjs';

export const batchedResolvers = { ...resolvers };

for (const [type, fields] of Object.entries(loaders)) {
  batchedResolvers[type] = Object.fromEntries(Object.entries(fields).map(([field, loader]) => {
    const name = `${type}.${field}`;
    return [field, (obj, params, context, info) => {
      context.loaders[name] ??= new DataLoader((queries) => loader(queries, context), { cache: false });
      return context.loaders[name].load({ obj, params, info });
    }];
  }));
}
