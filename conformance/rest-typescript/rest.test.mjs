// The REST operations by openapi-fetch and by the SDK of @hey-api/openapi-ts: the clients are generated from the
// contract that the server serves, compiled in strict settings, and used.
import { execFileSync } from 'node:child_process';

const run = (...args) => execFileSync(process.execPath, args, { cwd: import.meta.dirname, stdio: 'inherit' });
run('generate.mjs');
run('node_modules/typescript/bin/tsc');

const { scenario } = await import('./built/scenario.js');
for (const name of ['openapi-fetch', 'hey-api']) {
  const { connect } = await import(`./built/${name}.js`);
  scenario(name, connect);
}
