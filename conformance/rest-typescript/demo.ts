// The demo that run.sh has started.
import assert from 'node:assert/strict';

function given(name: string): string {
  const value = process.env[name];
  assert.ok(value, `${name} is not set: run the tests by run.sh`);
  return value;
}

export const url = given('SLIPWAY_SERVER');
export const admin = given('SLIPWAY_ADMIN');
export const viewer = given('SLIPWAY_VIEWER');
export const superadmin = given('SLIPWAY_SUPERADMIN');
export const wrong = 'slp_admin_00000000000000000000000000000000000000000';

// target is a deployment that can be rolled back to and redeployed.
export const target = given('SLIPWAY_ROLLBACK_TARGET');

// narrow is a server whose callers may spend little.
export const narrow = { url: given('SLIPWAY_NARROW_URL'), admin: given('SLIPWAY_NARROW_ADMIN') };

// graphql gives the data of an operation that REST has none for.
export async function graphql(query: string, variables: Record<string, string> = {}): Promise<any> {
  const response = await fetch(new URL('/graphql', url), {
    method: 'POST',
    headers: { Authorization: `Bearer ${admin}`, 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = await response.json() as { data: unknown; errors?: unknown };
  assert.equal(errors, undefined, JSON.stringify(errors));
  return data;
}

export const cancel = (id: string) => graphql('mutation($id: ID!) { cancelDeployment(input: { id: $id }) { deployment { id } } }', { id });
