// The REST operations by the Go client that oapi-codegen makes of the contract that the server serves.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const cwd = import.meta.dirname;
const go = (...args) => execFileSync('go', args, { cwd, stdio: 'inherit' });

test('oapi-codegen', async () => {
  const contract = await fetch(new URL('/openapi.json', process.env.SLIPWAY_SERVER));
  mkdirSync(join(cwd, 'generated'), { recursive: true });
  writeFileSync(join(cwd, 'generated', 'openapi.json'), await contract.text());
  go('tool', 'oapi-codegen', '-config', 'oapi-codegen.yaml', 'generated/openapi.json');
  go('test', '-count=1', './...');
});
