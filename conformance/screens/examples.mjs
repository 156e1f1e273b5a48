// For each screen, variables that fit a demo, and the parts of the answer that show something with them. All functions
// ask the demo through `ask`, which returns the data of a query.

// instance returns an instance that has references, a live deployment and a previous one, and its paths.
async function instance(ask) {
  const { moduleInstances: { nodes } } = await ask(`query Instances {
    moduleInstances(first: 100) {
      nodes {
        id
        name
        environment { slug project { slug } }
        moduleDefinition { type }
        liveDeployment { references(first: 1) { totalCount } }
        previousDeployment { id givenInputs moduleVersion { id } }
      }
    }
  }`);
  const found = nodes.find((each) => each.liveDeployment?.references.totalCount && each.previousDeployment);
  if (!found) throw new Error('The demo has no instance with references, a live deployment and a previous one.');
  const environment = `${found.environment.project.slug}/${found.environment.slug}`;
  return { ...found, environment, path: `${environment}/${found.name}` };
}

// newest returns the id of the newest deployment with a status.
async function newest(ask, status) {
  const { deployments: { nodes: [found] } } = await ask(`query Newest($status: DeploymentStatus!) {
    deployments(first: 1, filter: { statuses: [$status] }) { nodes { id } }
  }`, { status });
  if (!found) throw new Error(`The demo has no deployment that is ${status}.`);
  return { deploymentId: found.id };
}

// weekAgo returns the time a week ago.
const weekAgo = () => new Date(Date.now() - 7 * 24 * 60 * 60 * 1000).toISOString();

const none = async () => ({});
const environment = async (ask) => ({ path: (await instance(ask)).environment });

// again returns the form of a deployment with the inputs of the previous one.
async function again(ask) {
  const { id: moduleInstanceId, previousDeployment: { id, givenInputs, moduleVersion } } = await instance(ask);
  const into = { moduleInstanceId, moduleVersionId: moduleVersion.id };
  return {
    instanceId: moduleInstanceId,
    moduleVersionId: moduleVersion.id,
    values: { ...into, values: givenInputs },
    change: { create: { ...into, inputsFromDeploymentId: id } },
  };
}

export const examples = {
  home: { variables: none, shows: ['viewer.name', 'awaitingMyApproval.totalCount', 'projects.nodes'] },
  environment: { variables: environment, shows: ['environment.requirements', 'environment.moduleInstances.nodes'] },
  graph: { variables: environment, shows: ['environment.moduleInstances.nodes'] },
  instance: {
    variables: async (ask) => ({ path: (await instance(ask)).path }),
    shows: ['moduleInstance.liveDeployment.release.inputs', 'moduleInstance.previousDeployment.changesFromLive.inputs'],
  },
  lanes: {
    variables: async (ask) => ({ ...await environment(ask), since: weekAgo() }),
    shows: ['environment.deployments.nodes'],
  },
  timeline: {
    variables: async (ask) => ({ instanceId: (await instance(ask)).id }),
    shows: ['moduleInstance.deployments.nodes'],
  },
  deployment: {
    variables: (ask) => newest(ask, 'FAILED'),
    shows: ['deployment.error.action', 'deployment.references.nodes', 'deployment.events', 'deployment.logs.nodes'],
  },
  approve: {
    variables: (ask) => newest(ask, 'AWAITING_APPROVAL'),
    shows: ['deployment.requirements', 'deployment.changesFromLive.inputs', 'deployment.approveEligibility'],
  },
  deploy: {
    variables: again,
    shows: [
      'moduleInstance.liveDeployment.givenInputs',
      'moduleVersion.inputs',
      'resolveInputs.values',
      'resolveInputs.levels',
      'deploymentPlan.inputChanges',
      'deploymentPlan.token',
    ],
  },
  module: {
    variables: async (ask) => ({ moduleType: (await instance(ask)).moduleDefinition.type }),
    shows: [
      'moduleDefinition.versions.nodes',
      'moduleDefinition.latestModuleVersion.inputs',
      'moduleDefinition.moduleInstances.nodes',
    ],
  },
  audit: { variables: none, shows: ['auditEvents.nodes'] },
  runners: { variables: none, shows: ['runners.nodes'] },
  figures: { variables: async () => ({ since: weekAgo() }), shows: ['projects.nodes'] },
};
