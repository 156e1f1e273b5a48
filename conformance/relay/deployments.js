// What the compiler reads; the tests run what it writes. A frontend has this beside its components, and its
// bundler puts the artifacts in the place of the tags.
graphql`
  query deploymentsQuery($filter: DeploymentFilter) {
    ...deployments_list @arguments(filter: $filter)
  }
`;

graphql`
  fragment deployments_list on Query
  @refetchable(queryName: "deploymentsPageQuery")
  @argumentDefinitions(
    filter: { type: "DeploymentFilter" }
    count: { type: "Int", defaultValue: 5 }
    cursor: { type: "String" }
  ) {
    deployments(filter: $filter, first: $count, after: $cursor) @connection(key: "deployments_deployments", filters: ["filter"]) {
      edges {
        node {
          id
          status
          ...deployments_card
        }
      }
      totalCount
    }
  }
`;

graphql`
  fragment deployments_card on Deployment
  @refetchable(queryName: "deploymentsCardQuery")
  @argumentDefinitions(withRelease: { type: "Boolean", defaultValue: false }) {
    status
    createdAt
    release @include(if: $withRelease) {
      digest
    }
  }
`;

graphql`
  query deploymentsOneQuery($id: ID!) {
    deployment(id: $id) {
      ...deployments_card
    }
  }
`;

graphql`
  query deploymentsWholeQuery($id: ID!) {
    deployment(id: $id) {
      ...deployments_card @arguments(withRelease: true)
    }
  }
`;

graphql`
  query deploymentsInstanceQuery($id: ID!) {
    moduleInstance(id: $id) {
      ...deployments_ofInstance
    }
  }
`;

graphql`
  fragment deployments_ofInstance on ModuleInstance
  @refetchable(queryName: "deploymentsOfInstancePageQuery")
  @argumentDefinitions(count: { type: "Int", defaultValue: 2 }, cursor: { type: "String" }) {
    deployments(first: $count, after: $cursor) @connection(key: "deployments_ofInstance_deployments") {
      edges {
        node {
          id
        }
      }
    }
  }
`;

graphql`
  query deploymentsBothQuery($found: ID!, $missing: ID!) {
    found: deployment(id: $found) {
      status
    }
    missing: deployment(id: $missing) @catch {
      status
    }
  }
`;

graphql`
  mutation deploymentsRollBackMutation($input: RollbackDeploymentInput!, $connections: [ID!]!) {
    rollbackDeployment(input: $input) {
      deployment @prependNode(connections: $connections, edgeTypeName: "DeploymentEdge") {
        id
        status
        ...deployments_card
      }
    }
  }
`;

graphql`
  mutation deploymentsCancelMutation($id: ID!) {
    cancelDeployment(input: { id: $id }) {
      deployment {
        status
      }
    }
  }
`;

graphql`
  mutation deploymentsBothMutation($id: ID!, $missing: ID!) {
    done: cancelDeployment(input: { id: $id }) {
      deployment {
        status
      }
    }
    refused: cancelDeployment(input: { id: $missing }) {
      deployment {
        status
      }
    }
  }
`;

graphql`
  subscription deploymentsSubscription($id: ID!) {
    deploymentChanged(id: $id) {
      deployment {
        id
        status
      }
    }
  }
`;
