// What a client's cache needs to know of the schema, read from the answer to an introspection query. A
// frontend does this when it is built, and ships the result.

// possibleTypes gives the object types that each interface and union stands for.
export function possibleTypes({ __schema: { types } }) {
  return Object.fromEntries(types
    .filter((type) => type.possibleTypes?.length > 0)
    .map((type) => [type.name, type.possibleTypes.map(({ name }) => name)]));
}

// connections gives, by type and field, the arguments that tell one list from another: all but those that
// choose the page.
export function connections({ __schema: { types } }) {
  const paging = ['first', 'after', 'last', 'before'];
  const filters = ({ args }) => args.map(({ name }) => name).filter((name) => !paging.includes(name));
  return Object.fromEntries(types
    .filter(({ kind }) => kind === 'OBJECT')
    .map(({ name, fields }) => [name, fields.filter(({ type }) => /Connection$/.test((type.ofType ?? type).name))])
    .filter(([, fields]) => fields.length > 0)
    .map(([name, fields]) => [name, Object.fromEntries(fields.map((field) => [field.name, filters(field)]))]));
}

// embedded gives the object types that are no records of their own. Some have an id all the same, which is
// unique among its neighbours only, as those of inputs are.
export function embedded({ __schema: { types } }) {
  const record = ({ interfaces }) => interfaces.some(({ name }) => name === 'Node');
  return types.filter((type) => type.kind === 'OBJECT' && !record(type)).map(({ name }) => name);
}
