// Serves a peer, by one process or by WORKERS of them behind one port:
//
//   node --env-file=production.env serve.mjs mercurius

import cluster from 'node:cluster';
import { port, workers } from './settings.mjs';

if (workers === 1 || cluster.isWorker) {
  const { listen } = await import(`./${process.argv[2]}.mjs`);
  await listen({ port, host: '127.0.0.1' });
} else {
  superviseWorkers();
}

// superviseWorkers starts the workers. SIGTERM ends all of them, and so does the end of one.
function superviseWorkers() {
  let code;
  const end = (result) => {
    code ??= result;
    for (const worker of Object.values(cluster.workers)) worker.process.kill('SIGTERM');
  };
  cluster.on('exit', (worker, status, signal) => {
    if (code === undefined) console.error(`worker ${worker.id} ended by itself: ${signal ?? status}`);
    end(1);
    if (Object.keys(cluster.workers).length === 0) process.exit(code);
  });
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => end(0));
  for (let i = 0; i < workers; i++) cluster.fork();
}
