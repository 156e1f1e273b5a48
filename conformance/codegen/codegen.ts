import type { CodegenConfig } from '@graphql-codegen/cli';

export default {
  schema: '../../schema.graphql',
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
