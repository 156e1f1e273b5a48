import { body, send } from './request.js';

const query = `query Introspection {
  __schema {
    description
    queryType { name }
    mutationType { name }
    subscriptionType { name }
    types {
      kind name description specifiedByURL isOneOf
      fields(includeDeprecated: true) {
        name description isDeprecated deprecationReason
        args(includeDeprecated: true) { ...Input }
        type { ...Ref }
      }
      inputFields(includeDeprecated: true) { ...Input }
      enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
      interfaces { name }
      possibleTypes { name }
    }
  }
}
fragment Input on __InputValue {
  name description defaultValue isDeprecated deprecationReason
  type { ...Ref }
}
fragment Ref on __Type {
  kind name
  ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } }
}`;

// load asks for the schema, first as nobody, since that is allowed wherever introspection is on, then
// with the token. It gives {schema} or {problem}.
export async function load(endpoint, token) {
  let result = await send(endpoint, '', body(query, ''));
  if (token && !result.answer?.data?.__schema) result = await send(endpoint, token, body(query, ''));
  const found = result.answer?.data?.__schema;
  if (found) return { schema: new Schema(found) };
  return { problem: result.problem || result.answer.errors?.[0]?.message || `The answer has no schema (status ${result.status}).` };
}

// Schema is a GraphQL schema as introspection tells it.
export class Schema {
  constructor({ description, types, ...roots }) {
    this.description = description;
    this.types = new Map(types.map((type) => [type.name, type]));
    // roots are the entry points as {kind, name}: kind is 'query', 'mutation' or 'subscription'.
    this.roots = ['query', 'mutation', 'subscription']
      .map((kind) => ({ kind, name: roots[`${kind}Type`]?.name }))
      .filter(({ name }) => name);
  }

  // named lists the types that the schema's author made, by name.
  get named() {
    return [...this.types.values()]
      .filter(({ name }) => !name.startsWith('__'))
      .sort((a, b) => a.name.localeCompare(b.name));
  }

  // find lists what bears the words in its name, as {type, member, argument}: best matches first.
  find(words) {
    const wanted = words.toLowerCase();
    const hits = this.named.flatMap((type) => entries(type)).filter(({ label }) => label.toLowerCase().includes(wanted));
    const rank = ({ label }) => {
      const name = label.toLowerCase();
      if (name === wanted) return 0;
      return name.startsWith(wanted) ? 1 : 2;
    };
    return hits.sort((a, b) => rank(a) - rank(b) || a.depth - b.depth);
  }
}

// members gives what a type consists of by name: its fields, input fields or enum values.
export function members(type) {
  return type.fields ?? type.inputFields ?? type.enumValues ?? [];
}

// base gives the named type inside lists and non-nulls.
export function base(ref) {
  return ref.ofType ? base(ref.ofType) : ref;
}

function entries(type) {
  const found = [{ label: type.name, depth: 0, type: type.name }];
  for (const { name, args } of members(type)) {
    found.push({ label: name, depth: 1, type: type.name, member: name });
    for (const argument of args ?? []) {
      found.push({ label: argument.name, depth: 2, type: type.name, member: name, argument: argument.name });
    }
  }
  return found;
}
