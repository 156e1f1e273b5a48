// What every client has to be able to do.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer, Api, Connect } from './api.js';
import { admin, cancel, graphql, narrow, superadmin, target, url, viewer, wrong } from './demo.js';
import { sketch, variants } from './variants.js';

const unknown = { definition: 'dvd_01h455vb4pex5vsknk084sn02q', deployment: 'dep_01h455vb4pex5vsknk084sn02q' };

// done gives the data of an answer that must be no refusal.
function done<Data>({ data, error, response }: Answer<Data>, status = 200): Data {
  assert.equal(response.status, status, JSON.stringify(error));
  assert.ok(data !== undefined);
  assert.match(response.headers.get('X-Request-Id') ?? '', /^req_/);
  assert.ok(Number(response.headers.get('RateLimit-Remaining')) <= Number(response.headers.get('RateLimit-Limit')));
  return data;
}

// refused asserts that an answer is a refusal, decoded as the contract has it.
async function refused(asked: Promise<Answer<unknown>>, status: number, code: string) {
  const { data, error, response } = await asked;
  assert.equal(response.status, status, JSON.stringify(data ?? error));
  assert.equal(data, undefined);
  assert.ok(error);
  assert.equal(error.code, code, error.message);
  assert.equal(error.requestId, response.headers.get('X-Request-Id'));
  return { error, response };
}

async function aDefinition(): Promise<string> {
  const { defaultValueDefinitions } = await graphql('{ defaultValueDefinitions(first: 1) { nodes { id } } }');
  return defaultValueDefinitions.nodes[0].id;
}

export function scenario(name: string, connect: Connect) {
  const api = connect(url, admin);

  test(`${name}: all 14 variants are written and come back as they were`, async () => {
    const id = await aDefinition();
    const before = done(await api.update(id, { data: {} })).data;
    assert.deepEqual([...new Set(variants.map(({ type }) => type))].length, 14);
    for (const variant of variants) {
      const answer = await api.update(id, { data: { schema: variant } });
      const { schema } = done(answer).data;
      assert.deepEqual(schema, variant);
      assert.equal(sketch(schema), sketch(variant));
      const again = await api.update(id, { data: { schema } }, { 'If-Match': answer.response.headers.get('ETag') ?? '' });
      assert.equal(done(again).data.updatedAt, done(answer).data.updatedAt, 'what was read changes nothing when it is written');
    }
    const { name, description = '', schema } = before;
    assert.deepEqual(done(await api.update(id, { data: { name, description, schema } })).data.schema, schema);
  });

  test(`${name}: the catalogue is read page by page`, async () => {
    const seen: string[] = [];
    let cursor: string | undefined;
    let total: number;
    do {
      const page = done(await api.list({ limit: 3, status: 'ACTIVE', ...(cursor && { cursor }) }));
      assert.equal(page.meta.limit, 3);
      seen.push(...page.data.map(({ id }) => id));
      ({ nextCursor: cursor, totalCount: total } = page.meta);
    } while (cursor);
    assert.equal(new Set(seen).size, total);
    const anyone = done(await connect(url).list());
    assert.ok(anyone.data.length > 0 && anyone.data.every(({ organizationId }) => organizationId === undefined));
  });

  test(`${name}: a deployment is read, rolled back to and redeployed`, async () => {
    const read = await api.get(target);
    const source = done(read).data;
    assert.equal(source.data?.type, 'aws:ecs');
    assert.ok(source.data?.deployedTaskDefinition?.revision);
    assert.ok(Date.parse(source.completedAt ?? '') > Date.parse(source.createdAt));
    const known = await api.get(target, { 'If-None-Match': read.response.headers.get('ETag') ?? '' });
    assert.deepEqual([known.response.status, known.data], [304, undefined]);

    for (const [replay, origin] of [['rollback', 'rollbackToDeploymentId'], ['redeploy', 'redeployOfDeploymentId']] as const) {
      const key = crypto.randomUUID();
      const made = await api[replay](target, { 'Idempotency-Key': key });
      const { id, [origin]: from } = done(made, 201).data;
      assert.equal(from, target);
      const location = new URL(made.response.headers.get('Location') ?? '', made.response.url).href;
      assert.equal(location, `${url}/deployments/${id}`);
      assert.equal(done(await api[replay](target, { 'Idempotency-Key': key }), 201).data.id, id, 'the same request again');
      await cancel(id);
      assert.equal(done(await api.get(id)).data.error?.code, 'slipway:Deployment:CANCELED');
    }
  });

  test(`${name}: what PATCH refuses`, async () => {
    const id = await aDefinition();
    const nothing = { data: {} };
    const { error } = await refused(api.update(id, { data: { name: '' } }), 400, 'slipway:Request:INVALID');
    assert.match(error.details?.[0]?.items?.[0] ?? '', /^\/data\/name: /);
    await refused(connect(url).update(id, nothing), 401, 'slipway:Request:UNAUTHENTICATED');
    await refused(connect(url, viewer).update(id, { data: { name: 'N' } }), 403, 'slipway:DefaultValueDefinition:FORBIDDEN');
    await refused(api.update(unknown.definition, nothing), 404, 'slipway:DefaultValueDefinition:NOT_FOUND');
    await refused(api.update(id, nothing, {}, { Accept: 'text/html' }), 406, 'slipway:Request:NOT_ACCEPTABLE');
    await refused(api.update(id, nothing, { 'If-Match': '"v999"' }), 412, 'slipway:Request:PRECONDITION_FAILED');
    await refused(api.update(id, { data: { description: 'x'.repeat(300_000) } }), 413, 'slipway:Request:TOO_LARGE');
    await refused(api.update(id, nothing, {}, { 'Content-Type': 'text/plain' }), 415, 'slipway:Request:UNSUPPORTED_MEDIA_TYPE');
    const crossed = { id: 'a', label: 'A', type: 'number', min: 2, max: 1 } as const;
    await refused(api.update(id, { data: { schema: crossed } }), 422, 'slipway:DefaultValueDefinition:RULE_BROKEN');
    await limited((spender) => spender.update(unknown.definition, nothing));
  });

  test(`${name}: what the list refuses`, async () => {
    await refused(api.list({ limit: 101 }), 400, 'slipway:Request:INVALID');
    await refused(api.list({ cursor: 'made-up' }), 400, 'slipway:Request:CURSOR_INVALID');
    await refused(connect(url, wrong).list(), 401, 'slipway:Request:UNAUTHENTICATED');
    await refused(api.list({}, { 'Slipway-Organization': 'elsewhere' }), 403, 'slipway:Request:FORBIDDEN');
    await refused(api.list({}, { Accept: 'text/html' }), 406, 'slipway:Request:NOT_ACCEPTABLE');
    await limited((spender) => spender.list());
  });

  test(`${name}: what reading a deployment refuses`, async () => {
    await refused(connect(url, superadmin).get(target), 400, 'slipway:Request:ORGANIZATION_NEEDED');
    await refused(connect(url).get(target), 401, 'slipway:Request:UNAUTHENTICATED');
    await refused(api.get(unknown.deployment), 404, 'slipway:Deployment:NOT_FOUND');
    await refused(api.get(target, {}, { Accept: 'text/html' }), 406, 'slipway:Request:NOT_ACCEPTABLE');
    await limited((spender) => spender.get(unknown.deployment));
  });

  for (const replay of ['rollback', 'redeploy'] as const) {
    test(`${name}: what ${replay} refuses`, async () => {
      await refused(connect(url, superadmin)[replay](target), 400, 'slipway:Request:ORGANIZATION_NEEDED');
      await refused(connect(url)[replay](target), 401, 'slipway:Request:UNAUTHENTICATED');
      await refused(connect(url, viewer)[replay](target), 403, 'slipway:Deployment:FORBIDDEN');
      await refused(api[replay](unknown.deployment), 404, 'slipway:Deployment:NOT_FOUND');
      await refused(api[replay](target, {}, { Accept: 'text/html' }), 406, 'slipway:Request:NOT_ACCEPTABLE');
      await refused(api[replay](target, { 'Expected-Live-Deployment': unknown.deployment }), 409, 'slipway:Deployment:LIVE_CHANGED');
      const key = crypto.randomUUID();
      const { id } = done(await api[replay](target, { 'Idempotency-Key': key }), 201).data;
      const { error } = await refused(api[replay](target), 409, 'slipway:Deployment:IN_PROGRESS');
      assert.equal(error.action?.url, `${url}/deployments/${id}`);
      await refused(api[replay](id, { 'Idempotency-Key': key }), 422, 'slipway:Request:IDEMPOTENCY_KEY_REUSED');
      await cancel(id);
      await limited((spender) => spender[replay](unknown.deployment));
    });
  }

  // limited asks a server whose callers may spend little until it refuses to go on.
  async function limited(ask: (spender: Api) => Promise<Answer<unknown>>) {
    const spender = connect(narrow.url, narrow.admin);
    while ((await spender.update(unknown.definition, { data: {} })).response.status !== 429);
    let last: Answer<unknown>;
    do last = await ask(spender); while (last.response.status !== 429);
    const { error, response } = await refused(Promise.resolve(last), 429, 'slipway:Request:RATE_LIMITED');
    assert.equal(response.headers.get('Retry-After'), String(error.metadata?.['retryAfterSeconds']));
    assert.equal(response.headers.get('RateLimit-Limit'), String(error.metadata?.['value']));
  }
}
