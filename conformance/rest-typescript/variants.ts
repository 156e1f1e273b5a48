// Every variant of an input with every one of its fields, as somebody would write it with the generated types.
import type { InputProperty } from './api.js';

const common = { description: 'A help text.', show_when: { other: { not: 'x' } } };
const folding = { ...common, collapsible: true, immutable: true };
const patterns = [{ pattern: '^[a-z]+$', message: 'Lower case letters only.' }];

export const variants: InputProperty[] = [
  {
    ...folding, id: 'engine', label: 'Engine', type: 'string', default: '$values:first', min_current_value: true,
    no_options_message: 'None yet.', patterns, placeholder: 'pick', required: true,
    values: ['postgres', { value: 'mysql', label: 'MySQL', description: 'The other one.' }],
  },
  { ...folding, id: 'note', label: 'Note', type: 'text', default: 'hello', patterns, placeholder: 'write', required: true },
  { ...folding, id: 'settings', label: 'Settings', type: 'object', default: { deep: [{ down: null }] }, placeholder: '{}', required: true },
  {
    ...folding, id: 'hosts', label: 'Hosts', type: 'object_map', default: { web: { name: 'web' } }, item_label: 'Host',
    item_inputs: [{ id: 'name', label: 'Name', type: 'string' }, { id: 'network', label: 'Network', type: '$ref:aws/vpc' }],
    item_title: { template: '{key}', fallback: 'a host' }, required: true,
    key: { description: 'Its name.', from_fields: ['name', null, ''], label: 'Name', patterns, placeholder: 'web', separator: '_' },
  },
  {
    ...folding, id: 'rules', label: 'Rules', type: 'object_array', default: [{ cidr: '10.0.0.0/8' }],
    item_inputs: [{ id: 'cidr', label: 'CIDR', type: 'string' }], item_description: 'Lets {cidr} in.', item_label: 'Rule',
    item_title: { template: '{cidr}' }, required: true,
  },
  { ...folding, id: 'anything', label: 'Anything', type: 'array', default: [1, 'two', null, { three: [3] }], placeholder: '[]', required: true },
  {
    ...folding, id: 'zones', label: 'Zones', type: 'string_array', add_button_label: 'Add a zone', default: ['a'], patterns,
    placeholder: 'a', required: true, values: { source: 'default_value_definition', params: { givenId: 'zones' } },
  },
  {
    ...folding, id: 'size', label: 'Size', type: 'number', default: 2, min: -2147483648, max: 2147483647, min_current_value: true,
    no_options_message: 'None.', placeholder: '1', required: true, values: [1, { value: 2, label: 'two', description: 'Two.' }],
  },
  { ...folding, id: 'public', label: 'Public', type: 'boolean', default: false },
  { ...common, id: 'more', label: 'More', type: 'section' },
  {
    ...folding, id: 'instance', label: 'Instance', type: 'compound', default: { cpu: 1, name: 'small', burst: false }, fields: ['cpu', 'name', 'burst'],
    min_current_value: true, no_options_message: 'None.', required: true,
    values: [{ label: 'Small', description: 'One core.', fields: { cpu: 1, name: 'small', burst: false } }],
  },
  {
    ...folding, id: 'network', label: 'Network', type: '$ref:aws/vpc', required: true,
    mapped_inputs: [
      { id: 'cidr', label: 'CIDR', type: 'string', default: '${{ ref.input.cidr }}' },
      { id: 'count', label: 'Count', type: 'number', default: '${{ ref.stack.output.count }}' },
      { id: 'flag', label: 'Flag', type: 'boolean', default: '${{ ref.input.flag }}' },
      { id: 'tags', label: 'Tags', type: 'keyvalue', default: { team: 'web' } },
    ],
  },
  { ...folding, id: 'source', label: 'Source', type: 'gitrepo', default: 'https://git.example/acme/web', placeholder: 'https://…', required: true },
  { ...folding, id: 'labels', label: 'Labels', type: 'keyvalue', default: { team: 'web' }, required: true },
];

// sketch says what only each variant has, which the compiler lets nobody read before the type is known.
export function sketch(input: InputProperty): string {
  switch (input.type) {
    case 'string': return `one of ${Array.isArray(input.values) ? input.values.length : input.values?.source}`;
    case 'text': return input.default ?? '';
    case 'object': return Object.keys(input.default ?? {}).join();
    case 'object_map': return `${input.key?.from_fields?.map((field) => field?.length).join('+')}: ${input.item_inputs.map(sketch).join()}`;
    case 'object_array': return input.item_description ?? '';
    case 'array': return `${input.default?.length} items`;
    case 'string_array': return input.default?.join() ?? '';
    case 'number': return input.default === '$values:first' ? 'the first' : `${(input.default ?? 0) + 1}`;
    case 'boolean': return input.default ? 'on' : 'off';
    case 'section': return input.label;
    case 'compound': return input.fields.join();
    case 'gitrepo': return input.placeholder ?? '';
    case 'keyvalue': return input.default?.team ?? '';
    default: {
      const reference: `$ref:${string}` = input.type;
      return `${reference} ${input.mapped_inputs?.map(({ type }) => type).join()}`;
    }
  }
}

// What must not be written is refused by the compiler already.
const named = { id: 'a', label: 'A' };
export const refused: InputProperty[] = [
  // @ts-expect-error There is no such type.
  { ...named, type: 'dropdown' },
  // @ts-expect-error A reference names a module type behind `$ref:`.
  { ...named, type: 'ref:aws/vpc' },
  // @ts-expect-error A toggle has a default.
  { ...named, type: 'boolean' },
  // @ts-expect-error Texts have no options.
  { ...named, type: 'text', values: ['x'] },
];
