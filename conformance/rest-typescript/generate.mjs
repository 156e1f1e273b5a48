// Writes both clients from the contract that a server serves: generated/openapi-typescript.ts by openapi-typescript,
// for openapi-fetch, and generated/hey-api by @hey-api/openapi-ts.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createClient } from '@hey-api/openapi-ts';
import openapiTypeScript, { astToString } from 'openapi-typescript';
import ts from 'typescript';

const contract = await (await fetch(new URL('/openapi.json', process.env.SLIPWAY_SERVER))).json();
await rm('generated', { recursive: true, force: true });
await mkdir('generated');

// The type of a reference is a text of the form `$ref:…`. Neither generator reads patterns by itself.
const isReference = ({ pattern }) => pattern?.startsWith('^\\$ref:');

const { factory, SyntaxKind } = ts;
const types = await openapiTypeScript(contract, {
  transform: (schema) => isReference(schema)
    ? factory.createTemplateLiteralType(factory.createTemplateHead('$ref:'), [factory.createTemplateLiteralTypeSpan(
      factory.createKeywordTypeNode(SyntaxKind.StringKeyword), factory.createTemplateTail(''))])
    : undefined,
});
await writeFile('generated/openapi-typescript.ts', astToString(types));

await createClient({
  input: contract,
  output: { path: 'generated/hey-api', importFileExtension: '.js' },
  logs: { level: 'silent', file: false },
  plugins: ['@hey-api/client-fetch', '@hey-api/sdk', {
    name: '@hey-api/typescript',
    '~resolvers': {
      string: ({ $, schema }) => isReference(schema) ? $.type.template().add('$ref:').add($.type('string')) : undefined,
    },
  }],
});
