// Runs the examples of docs/rest.md as one script, as somebody would who pastes them one after the other.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const text = readFileSync(new URL('../docs/rest.md', import.meta.url), 'utf8');
const examples = [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, example]) => example);

test('the examples of docs/rest.md', () => {
  // The example of a refusal is one, and nobody carries deployments out but this test.
  const script = examples.join('').replace(/^until .*$/m, 'cancel "$new"');
  const cancel = 'cancel() { api --output /dev/null --json \'{"query":"mutation{cancelDeployment(input:{id:\\"\'"$1"\'\\"}){deployment{id}}}"}\' "$SLIPWAY_SERVER/graphql"; }';
  const printed = execFileSync('bash', ['-eu'], {
    input: `${cancel}\n${script}`,
    env: { ...process.env, SLIPWAY_TOKEN: process.env.SLIPWAY_ADMIN },
    stdio: ['pipe', 'pipe', 'inherit'],
  }).toString();
  for (const expected of [
    /^mod_\w+ /m, /Looked after by the platform team\./, /Looked after by nobody else meanwhile\./, /"description": "Rollback to /,
    /slipway:Deployment:CANCELED/, /^limit: must be a whole number between 1 and 100/m, /^stauts: is not a parameter here/m, /^\d+ of \d+$/m,
  ]) {
    assert.match(printed, expected);
  }
});
