// How schema.graphql is written: the rules that graphql-eslint recommends for schemas, those of Relay, and a few more.
import graphql from '@graphql-eslint/eslint-plugin';

const { 'flat/schema-recommended': recommended, 'flat/schema-relay': relay } = graphql.configs;
const own = (name) => `@graphql-eslint/${name}`;
const { EnumValueDefinition, ...names } = recommended.rules[own('naming-convention')][1];

export default [{
  files: ['**/*.graphql'],
  languageOptions: { parser: graphql.parser, parserOptions: { graphQLConfig: { schema: 'schema.graphql' } } },
  linterOptions: { reportUnusedDisableDirectives: 'error' },
  plugins: { '@graphql-eslint': graphql },
  rules: {
    ...recommended.rules,
    ...relay.rules,
    [own('require-description')]: ['error', {
      types: true, rootField: true, DirectiveDefinition: true, FieldDefinition: true, InputValueDefinition: true, EnumValueDefinition: true,
    }],
    [own('input-name')]: ['error', { checkInputType: true, caseSensitiveInputType: false }],
    [own('no-scalar-result-type-on-mutation')]: 'error',
    [own('require-nullable-result-in-root')]: 'error',

    // Off, or narrower than they are meant.

    // Descriptions are in one pair of quotes where they fit on a line, and in three where they do not.
    [own('description-style')]: 'off',
    // `Deployment.deploymentType` is the name over REST, too.
    [own('no-typename-prefix')]: 'off',
    // What is no record has no id, such as a page, a payload or an input of a form. Every Node has one.
    [own('strict-id-in-types')]: 'off',
    // `list` and `object` are the words that the error's JSON has over REST, too.
    [own('naming-convention')]: ['error', { ...names, 'EnumValueDefinition[parent.name.value!=ErrorSectionRender]': EnumValueDefinition }],
    // Lists that are short by nature are plain lists. The options of dynamic values are in pages, and are no records.
    [own('relay-edge-types')]: ['error', { withEdgeSuffix: true, shouldImplementNode: false, listTypeCanWrapOnlyEdgeType: false }],
  },
}];
