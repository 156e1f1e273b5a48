// Inputs, which are of a union, read by a fragment of each variant that has more than the others.
graphql`
  query inputsQuery {
    moduleDefinitions(first: 50) {
      nodes {
        latestModuleVersion {
          inputs {
            ...inputs_input
          }
          inputsJson
        }
      }
    }
  }
`;

graphql`
  fragment inputs_input on InputProperty {
    __typename
    ...inputs_head @alias(as: "head")
    ... on StringProperty {
      placeholder
      values {
        ...inputs_values
      }
    }
    ... on NumberProperty {
      min
      max
      values {
        ...inputs_values
      }
    }
    ... on CompoundProperty {
      fields
      values {
        ...inputs_values
      }
    }
    ... on ObjectMapProperty {
      itemInputs {
        ...inputs_head @alias(as: "head")
      }
      key {
        separator
      }
    }
    ... on ReferenceProperty {
      moduleType
    }
  }
`;

graphql`
  fragment inputs_head on InputPropertyBase {
    id
    label
    type
    description
  }
`;

graphql`
  fragment inputs_values on InputValues {
    __typename
    ... on StaticValues {
      options {
        value
        label
      }
    }
    ... on DynamicValuesRef {
      source
      params
    }
  }
`;
