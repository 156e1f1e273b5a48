import { Kind, parse } from 'graphql';

// operationOf gives the operation that a request asks for as {kind, name}: kind is 'query', 'mutation' or
// 'subscription'. The name that GraphiQL gives is for a moment that of the tab before, so where there is one
// operation it is that. What cannot be told is left to the server, which says why.
export function operationOf({ query, operationName }) {
  let found = [];
  try {
    found = parse(query).definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  } catch {
    return { kind: 'query', name: operationName };
  }
  const [only = {}] = found.length === 1 ? found : found.filter(({ name }) => name?.value === operationName);
  return { kind: only.operation ?? 'query', name: only.operation ? only.name?.value : operationName };
}
