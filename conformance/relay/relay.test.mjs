// The endpoint by Relay: its compiler in strict settings, connections, refetchable fragments, the store,
// mutations and subscriptions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import relay from 'relay-runtime';
import { adminToken, canceled, cancel, carriedOut, endpoint, introspection, rollBack, run, sent, status, target, told, unknown } from '../demo.mjs';
import { artifact } from './artifacts.mjs';
import { makeEnvironment } from './environment.mjs';

const {
  commitMutation, ConnectionHandler, createOperationDescriptor, fetchQuery, getPaginationMetadata, getPaginationVariables,
  getRefetchMetadata, getSelector, requestSubscription, ROOT_ID,
} = relay;

function connect(t) {
  const { environment, stop } = makeEnvironment({ url: endpoint, token: adminToken, introspection });
  t.mock.method(console, 'warn', (message) => assert.fail(message));
  t.mock.method(console, 'error', (message) => assert.fail(message));
  t.after(stop);
  return environment;
}

const ask = (environment, name, variables = {}, options = {}) => fetchQuery(environment, artifact(name), variables, options).toPromise();

// read gives what a fragment selects, and fails where the store lacks some of it.
function read(environment, name, reference) {
  const snapshot = environment.lookup(getSelector(artifact(name), reference));
  assert.equal(snapshot.isMissingData, false, `${name} is not whole`);
  return snapshot.data;
}

// more asks for the next page of the connection in a fragment, as usePaginationFragment does.
function more(environment, name, reference, count) {
  const fragment = artifact(name);
  const { connectionPathInFragmentData: path, paginationRequest, paginationMetadata, identifierField } = getPaginationMetadata(fragment, name);
  const data = environment.lookup(getSelector(fragment, reference)).data;
  const { pageInfo } = path.reduce((at, key) => at[key], data);
  assert.equal(pageInfo.hasNextPage, true);
  const { owner, variables } = getSelector(fragment, reference);
  const next = getPaginationVariables('forward', count, pageInfo.endCursor, { ...owner.variables, ...variables }, {}, paginationMetadata);
  return fetchQuery(environment, paginationRequest, identifierField ? { ...next, id: data[identifierField] } : next).toPromise();
}

const commit = (environment, name, config) => new Promise((resolve, reject) => {
  commitMutation(environment, { mutation: artifact(name), ...config, onCompleted: (data, errors) => resolve({ data, errors }), onError: reject });
});

const codes = (errors) => errors.map(({ extensions }) => extensions.code);

test('a connection on the root takes further pages', async (t) => {
  const environment = connect(t);
  const filter = { statuses: 'SUCCEEDED' };
  const reference = await ask(environment, 'deploymentsQuery', { filter });
  assert.equal(read(environment, 'deployments_list', reference).deployments.edges.length, 5);
  await more(environment, 'deployments_list', reference, 5);
  await more(environment, 'deployments_list', reference, 7);
  const { deployments } = read(environment, 'deployments_list', reference);
  assert.equal(new Set(deployments.edges.map(({ node }) => node.id)).size, 17);
  assert.ok(deployments.edges.every(({ node }) => node.status === 'SUCCEEDED'));
  assert.ok(deployments.totalCount > 17);
});

test('a connection of a record takes all its pages, by node(id:)', async (t) => {
  const environment = connect(t);
  const { deployment } = await run('query($id: ID!) { deployment(id: $id) { moduleInstance { id deployments { totalCount } } } }', { id: target });
  const { id, deployments: { totalCount } } = deployment.moduleInstance;
  const { moduleInstance } = await ask(environment, 'deploymentsInstanceQuery', { id });
  const list = () => read(environment, 'deployments_ofInstance', moduleInstance).deployments;
  assert.equal(list().edges.length, 2);
  while (list().pageInfo.hasNextPage) await more(environment, 'deployments_ofInstance', moduleInstance, 20);
  assert.equal(new Set(list().edges.map(({ node }) => node.id)).size, totalCount);
});

test('a fragment on a record is fetched again by node(id:), with other arguments', async (t) => {
  const environment = connect(t);
  const { deployment } = await ask(environment, 'deploymentsOneQuery', { id: target });
  const card = read(environment, 'deployments_card', deployment);
  assert.equal(card.status, 'SUCCEEDED');
  assert.equal(card.release, undefined);

  const { refetchableRequest, identifierInfo, fragmentRefPathInResponse } = getRefetchMetadata(artifact('deployments_card'), 'deployments_card');
  assert.equal(identifierInfo.identifierField, 'id');
  const again = await fetchQuery(environment, refetchableRequest, { id: target, withRelease: true }).toPromise();
  const whole = read(environment, 'deployments_card', fragmentRefPathInResponse.reduce((at, key) => at[key], again));
  assert.match(whole.release.digest, /^sha256:/);
  assert.equal(whole.createdAt, card.createdAt);
});

test('what the store has is not asked for, by whatever field it came, and what it lacks is', async (t) => {
  const environment = connect(t);
  const reference = await ask(environment, 'deploymentsQuery', {});
  const [{ node }] = read(environment, 'deployments_list', reference).deployments.edges;
  const requests = sent(t);
  const operation = createOperationDescriptor(artifact('deploymentsOneQuery'), { id: node.id });
  assert.equal(environment.check(operation).status, 'available');
  const { deployment } = await ask(environment, 'deploymentsOneQuery', { id: node.id }, { fetchPolicy: 'store-or-network' });
  assert.equal(read(environment, 'deployments_card', deployment).status, node.status);
  assert.equal(requests.length, 0);

  const whole = createOperationDescriptor(artifact('deploymentsWholeQuery'), { id: node.id });
  assert.equal(environment.check(whole).status, 'missing');
  const { deployment: fetched } = await ask(environment, 'deploymentsWholeQuery', { id: node.id }, { fetchPolicy: 'store-or-network' });
  assert.match(read(environment, 'deployments_card', fetched).release.digest, /^sha256:/);
  assert.equal(requests.length, 1);
});

test('a mutation adds its record to a connection, and another changes it', async (t) => {
  const environment = connect(t);
  const reference = await ask(environment, 'deploymentsQuery', {});
  const newest = () => read(environment, 'deployments_list', reference).deployments.edges[0].node;
  const connection = ConnectionHandler.getConnectionID(ROOT_ID, 'deployments_deployments', { filter: null });
  const { data } = await commit(environment, 'deploymentsRollBackMutation', { variables: { input: { id: target }, connections: [connection] } });
  const { id } = data.rollbackDeployment.deployment;
  t.after(async () => { if (await status(id) === 'PENDING') await cancel(id); });
  assert.deepEqual([newest().id, newest().status], [id, 'PENDING']);

  await commit(environment, 'deploymentsCancelMutation', { variables: { id } });
  assert.equal(newest().status, 'CANCELED');
});

test('what a mutation was expected to do is taken back where it is refused', async (t) => {
  const environment = connect(t);
  const { deployment } = await ask(environment, 'deploymentsOneQuery', { id: target });
  const seen = [];
  const snapshot = environment.lookup(getSelector(artifact('deployments_card'), deployment));
  const watching = environment.subscribe(snapshot, ({ data }) => seen.push(data.status));
  t.after(() => watching.dispose());
  const { data, errors } = await commit(environment, 'deploymentsCancelMutation', {
    variables: { id: target },
    optimisticResponse: { cancelDeployment: { deployment: { id: target, status: 'CANCELED' } } },
  });
  assert.equal(data.cancelDeployment, null);
  assert.deepEqual(codes(errors), ['slipway:Deployment:WRONG_STATE']);
  assert.deepEqual(seen, ['CANCELED', 'SUCCEEDED']);
});

test('of two mutations the one that is refused leaves the other its answer', async (t) => {
  const environment = connect(t);
  const id = await rollBack(t);
  const { data, errors } = await commit(environment, 'deploymentsBothMutation', { variables: { id, missing: unknown } });
  assert.equal(data.done.deployment.status, 'CANCELED');
  assert.equal(data.refused, null);
  assert.deepEqual(errors.map(({ extensions, path }) => [extensions.code, path]), [['slipway:Deployment:NOT_FOUND', ['refused']]]);
  assert.equal(await status(id), 'CANCELED');
});

test('what is refused leaves its neighbours their answers, and is caught where it is read', async (t) => {
  const environment = connect(t);
  const { found, missing } = await ask(environment, 'deploymentsBothQuery', { found: target, missing: unknown });
  assert.equal(found.status, 'SUCCEEDED');
  assert.equal(missing.ok, false);
  assert.deepEqual(codes(missing.errors), ['slipway:Deployment:NOT_FOUND']);
});

test('a refused document fails with the errors of the server', async (t) => {
  const environment = connect(t);
  const failure = await ask(environment, 'deploymentsOneQuery', { id: null }).then(() => {}, (error) => error);
  assert.deepEqual(codes(failure.source.errors), ['slipway:Document:VARIABLES_INVALID']);
});

test('inputs of one id stay apart, and a fragment on their interface holds for each of them', async (t) => {
  const environment = connect(t);
  const { moduleDefinitions } = await ask(environment, 'inputsQuery');
  const heads = new Map();
  const kinds = new Set();
  for (const { latestModuleVersion: version } of moduleDefinitions.nodes) {
    version?.inputs.forEach((reference, at) => {
      const written = version.inputsJson[at];
      const input = read(environment, 'inputs_input', reference);
      const head = read(environment, 'inputs_head', input.head);
      assert.deepEqual([head.id, head.label, head.type, head.description ?? undefined], [written.id, written.label, written.type, written.description]);
      input.itemInputs?.forEach((item, i) => assert.equal(read(environment, 'inputs_head', item.head).label, written.item_inputs[i].label));
      if (input.values) kinds.add(read(environment, 'inputs_values', input.values).__typename);
      const key = input.__typename + head.id;
      heads.set(key, (heads.get(key) ?? 0) + 1);
    });
  }
  assert.deepEqual([...kinds].sort(), ['DynamicValuesRef', 'StaticValues']);
  assert.ok([...heads.values()].some((count) => count > 1), 'several versions have an input of the same id and variant');
});

// changes tells what a subscription pushes.
const changes = (environment, id) => told({
  subscribe(sink) {
    const subscription = requestSubscription(environment, {
      subscription: artifact('deploymentsSubscription'), variables: { id },
      onNext: (data) => sink.next({ data }), onError: sink.error, onCompleted: sink.complete,
    });
    return { unsubscribe: () => subscription.dispose() };
  },
});

test('a deployment is followed, and the lists that show it change with it', async (t) => {
  const environment = connect(t);
  const id = await rollBack(t);
  const reference = await ask(environment, 'deploymentsQuery', {});
  const newest = () => read(environment, 'deployments_list', reference).deployments.edges[0].node;
  assert.deepEqual(await carriedOut(id, changes(environment, id)), ['PENDING', 'RUNNING', 'SUCCEEDED']);
  assert.deepEqual([newest().id, newest().status], [id, 'SUCCEEDED']);

  const another = await rollBack(t);
  assert.deepEqual(await canceled(another, changes(environment, another)), ['PENDING', 'CANCELED']);
});

test('a subscription that is refused fails with the errors of the server', async (t) => {
  const results = changes(connect(t), unknown).getReader();
  const failure = await results.read().then(() => {}, (error) => error);
  assert.deepEqual(codes(failure.source.errors), ['slipway:Deployment:NOT_FOUND']);
});
