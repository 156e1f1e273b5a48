// A program that writes and reads inputs of every variant by what graphql-codegen makes of the schema. That
// it compiles is half of the test.
import type { Ask } from './client.js';
import type { DeploymentStatus, EveryInputFragment, InputPropertyInput, LeafInputFragment } from './generated/graphql.js';
import { graphql } from './generated/index.js';

graphql(`
  fragment LeafInput on InputProperty {
    __typename
    ... on InputPropertyBase { id label type description showWhen }
    ... on StringProperty {
      collapsible immutable default minCurrentValue noOptionsMessage
      patterns { pattern message } placeholder required values { ...Values }
    }
    ... on TextProperty { collapsible immutable default patterns { pattern message } placeholder required }
    ... on ObjectProperty { collapsible immutable default placeholder required }
    ... on ObjectMapProperty {
      collapsible immutable default itemLabel itemTitle { template fallback }
      key { description fromFields label patterns { pattern message } placeholder separator } required
    }
    ... on ObjectArrayProperty {
      collapsible immutable default itemDescription itemLabel itemTitle { template fallback } required
    }
    ... on ArrayProperty { collapsible immutable default placeholder required }
    ... on StringArrayProperty {
      collapsible immutable addButtonLabel default patterns { pattern message } placeholder required values { ...Values }
    }
    ... on NumberProperty {
      collapsible immutable default min max minCurrentValue noOptionsMessage placeholder required values { ...Values }
    }
    ... on BooleanProperty { collapsible immutable default }
    ... on CompoundProperty {
      collapsible immutable fields default minCurrentValue noOptionsMessage required values { ...Values }
    }
    ... on ReferenceProperty { collapsible immutable moduleType required }
    ... on GitRepoProperty { collapsible immutable default placeholder required }
    ... on KeyValueProperty { collapsible immutable default required }
  }
`);

graphql(`
  fragment Values on InputValues {
    ... on StaticValues { options { value label description } }
    ... on DynamicValuesRef { source params }
  }
`);

graphql(`
  fragment EveryInput on InputProperty {
    ...LeafInput
    ... on ObjectMapProperty { itemInputs { ...LeafInput } }
    ... on ObjectArrayProperty { itemInputs { ...LeafInput } }
    ... on ReferenceProperty { mappedInputs { ...LeafInput } }
  }
`);

const create = graphql(`
  mutation Create($input: CreateDefaultValueDefinitionInput!) {
    createDefaultValueDefinition(input: $input) {
      defaultValueDefinition { id createdAt schema { ...EveryInput } schemaJson }
    }
  }
`);

const update = graphql(`
  mutation Update($input: UpdateDefaultValueDefinitionInput!) {
    updateDefaultValueDefinition(input: $input) {
      defaultValueDefinition { schema { ...EveryInput } schemaJson }
      changes { field before after }
    }
  }
`);

const remove = graphql(`
  mutation Remove($id: ID!) {
    deleteDefaultValueDefinition(input: { id: $id }) { __typename }
  }
`);

const createModule = graphql(`
  mutation CreateModule($input: CreateModuleDefinitionInput!) {
    createModuleDefinition(input: $input) { moduleDefinition { id } }
  }
`);

const publish = graphql(`
  mutation Publish($input: PublishModuleVersionInput!) {
    publishModuleVersion(input: $input) { moduleVersion { inputs { ...EveryInput } } }
  }
`);

const deployments = graphql(`
  query Deployments($first: Int!) {
    deployments(first: $first) { nodes { id status createdAt completedAt } }
  }
`);

// inputs has one of each variant. All of them may stand beside one another.
export const inputs = {
  string: {
    string: {
      id: 'region', label: 'Region', description: 'Where it runs', collapsible: true, immutable: true, default: '$values:first',
      minCurrentValue: true, noOptionsMessage: 'There is none.', patterns: [{ pattern: '^[a-z]+-\\d$', message: 'Such as eu-1.' }],
      placeholder: 'eu-1', required: true, values: ['eu-1', { value: 'us-1', label: 'USA', description: 'West coast' }],
    },
  },
  text: { text: { id: 'notes', label: 'Notes', default: 'None.', patterns: [{ pattern: '\\.$', message: 'Ends with a stop.' }], placeholder: 'What for?', required: true } },
  object: { object: { id: 'settings', label: 'Settings', default: { log: { level: 'info' } }, placeholder: '{}', required: false } },
  objectMap: {
    objectMap: {
      id: 'services', label: 'Services', itemLabel: 'Service', required: false, default: { 'web-80': { name: 'web', port: 80 } },
      itemInputs: [
        { string: { id: 'name', label: 'Name', required: true } },
        { number: { id: 'port', label: 'Port', default: 80, min: 1, max: 65_535 } },
      ],
      itemTitle: { template: '{key} on {port}', fallback: 'A service' },
      key: { description: 'Made of both', fromFields: ['name', null, 'port'], label: 'Key', patterns: [{ pattern: '^[a-z]', message: 'Starts with a letter.' }], placeholder: 'web-80', separator: '-' },
    },
  },
  objectArray: {
    objectArray: {
      id: 'rules', label: 'Rules', itemLabel: 'Rule', itemDescription: 'allowed: {allow}', itemTitle: { template: '{cidr}' }, default: [{ cidr: '10.0.0.0/8', allow: false }],
      itemInputs: [{ string: { id: 'cidr', label: 'CIDR' } }, { boolean: { id: 'allow', label: 'Allow', default: true } }],
    },
  },
  array: { array: { id: 'mounts', label: 'Mounts', default: [['/data', 'rw'], 1, null], placeholder: '[]', required: true } },
  stringArray: { stringArray: { id: 'zones', label: 'Zones', addButtonLabel: 'Add a zone', default: ['a'], patterns: [{ pattern: '^[a-z]$', message: 'One letter.' }], values: ['a', 'b'] } },
  number: { number: { id: 'replicas', label: 'Replicas', default: 2, min: 1, max: 2_147_483_647, minCurrentValue: true, noOptionsMessage: 'There is none.', values: [1, 2, { value: 4, label: 'Four' }] } },
  boolean: { boolean: { id: 'public', label: 'Public', default: false, immutable: true } },
  section: { section: { id: 'network', label: 'Network', description: 'Where it can be reached' } },
  compound: {
    compound: {
      id: 'size', label: 'Size', fields: ['cpu', 'memory'], default: { cpu: 1, memory: '2Gi' }, noOptionsMessage: 'There is none.',
      values: [{ label: 'Small', fields: { cpu: 1, memory: '2Gi' } }, { label: 'Large', description: 'For production', fields: { cpu: 8, memory: '16Gi' } }],
    },
  },
  reference: {
    reference: {
      id: 'vpc', label: 'VPC', moduleType: 'aws/vpc', required: true,
      mappedInputs: [{ string: { id: 'vpc_id', label: 'VPC id', default: '${{ ref.stack.output.vpc_id }}' } }],
    },
  },
  gitRepo: { gitRepo: { id: 'source', label: 'Source', default: 'https://git.example.com/team/app.git', placeholder: 'https://', required: true } },
  keyValue: { keyValue: { id: 'labels', label: 'Labels', default: { team: 'core' }, required: true } },
} satisfies Record<string, InputPropertyInput>;

// shown has a condition, which names its neighbour, and options that the server looks up.
const shown: InputPropertyInput = {
  string: { id: 'project', label: 'Project', showWhen: { public: true }, values: { source: 'projects', params: {} } },
};

// @ts-expect-error an input is of one variant
export const two: InputPropertyInput = { ...inputs.section, ...inputs.boolean };

// @ts-expect-error a boolean has a default
export const bare: InputPropertyInput = { boolean: { id: 'public', label: 'Public' } };

// toInput makes of what was read what can be written: the value of the member that is named as its type. It does
// not compile where a variant is left out.
export function toInput(input: EveryInputFragment): InputPropertyInput {
  switch (input.__typename) {
    case 'StringProperty': return { string: input };
    case 'TextProperty': return { text: input };
    case 'ObjectProperty': return { object: input };
    case 'ObjectMapProperty': return { objectMap: { ...input, itemInputs: input.itemInputs.map(toItem) } };
    case 'ObjectArrayProperty': return { objectArray: { ...input, itemInputs: input.itemInputs.map(toItem) } };
    case 'ArrayProperty': return { array: input };
    case 'StringArrayProperty': return { stringArray: input };
    case 'NumberProperty': return { number: input };
    case 'BooleanProperty': return { boolean: input };
    case 'SectionProperty': return { section: input };
    case 'CompoundProperty': return { compound: input };
    case 'ReferenceProperty': return { reference: { ...input, mappedInputs: input.mappedInputs?.map(toItem) ?? null } };
    case 'GitRepoProperty': return { gitRepo: input };
    case 'KeyValueProperty': return { keyValue: input };
    default: return never(input);
  }
}

function toItem(item: LeafInputFragment): InputPropertyInput {
  switch (item.__typename) {
    case 'ObjectMapProperty':
    case 'ObjectArrayProperty':
    case 'ReferenceProperty': throw new Error(`${item.id} lies deeper than the query reads`);
    default: return toInput(item);
  }
}

function never(nothing: never): never {
  throw new Error(`unknown: ${JSON.stringify(nothing)}`);
}

// roundTrip writes an input, reads it, writes what was read, and gives what was read both times.
export async function roundTrip(ask: Ask, input: InputPropertyInput, givenId: string) {
  const { createDefaultValueDefinition: created } = await ask(create, { input: { givenId, name: givenId, schema: input } });
  if (!created) throw new Error('nothing was created');
  const { id, schema, schemaJson } = created.defaultValueDefinition;
  const { updateDefaultValueDefinition: updated } = await ask(update, { input: { id, schema: toInput(schema) } });
  if (!updated) throw new Error('nothing was updated');
  await ask(remove, { id });
  return { before: { schema, schemaJson }, after: updated.defaultValueDefinition, changes: updated.changes };
}

// publishTwice publishes a version with all inputs, and another with what was read of the first.
export async function publishTwice(ask: Ask, type: string) {
  const { createModuleDefinition: created } = await ask(createModule, { input: { name: 'Every input', type } });
  if (!created) throw new Error('nothing was created');
  const moduleDefinitionId = created.moduleDefinition.id;
  const version = async (version: string, inputs: InputPropertyInput[]) => {
    const { publishModuleVersion: published } = await ask(publish, { input: { moduleDefinitionId, version, deploymentType: 'terraform', inputs } });
    if (!published) throw new Error('nothing was published');
    return published.moduleVersion.inputs;
  };
  const first = await version('1.0.0', [...Object.values(inputs), shown]);
  return [first, await version('1.0.1', first.map(toInput))] as const;
}

// standing tells where the newest deployments stand.
export async function standing(ask: Ask, first: number): Promise<string[]> {
  const { deployments: page } = await ask(deployments, { first });
  return (page?.nodes ?? []).map(({ status, createdAt, completedAt }) => {
    const begun: string = createdAt;
    const ended: string | null = completedAt;
    return `${tense(status)} ${begun.slice(0, 4)} ${ended?.slice(0, 4) ?? '-'}`;
  });
}

function tense(status: DeploymentStatus): string {
  switch (status) {
    case 'AWAITING_APPROVAL': return 'may be';
    case 'PENDING': return 'will be';
    case 'RUNNING': return 'is being';
    case 'SUCCEEDED':
    case 'FAILED':
    case 'CANCELED': return 'was';
    default: return never(status);
  }
}
