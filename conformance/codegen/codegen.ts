import type { CodegenConfig } from '@graphql-codegen/cli';

export default {
  // Unless it is told to, graphql-codegen does not ask which inputs are of exactly one member.
  schema: [{ [`${process.env.SLIPWAY_SERVER}/graphql`]: { oneOf: true } }],
  documents: 'program.ts',
  generates: {
    'generated/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: {
        documentMode: 'string',
        emitLegacyCommonJSImports: false,
        enumsAsTypes: true,
        strictScalars: true,
        scalars: { ID: 'string', UtcDateTime: 'string', GivenId: 'string', JSON: 'unknown' },
        useTypeImports: true,
      },
    },
  },
} satisfies CodegenConfig;
