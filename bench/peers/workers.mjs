// The processes of a server: one, or WORKERS of them behind one port.

import cluster from 'node:cluster';

const port = positive('PORT');
const workers = positive('WORKERS', 1);

// connections is how many connections to the database one worker may have.
export const connections = Math.max(1, Math.floor(positive('CONNECTIONS', 16) / workers));

// serve calls listen(options) in each worker. SIGTERM ends all of them, and so does the end of one.
export async function serve(listen) {
  if (workers === 1 || cluster.isWorker) return listen({ port, host: '127.0.0.1' });
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

function positive(name, standard) {
  const value = Number(process.env[name] ?? standard);
  if (!Number.isInteger(value) || value < 1) throw new Error(`${name} must be a number above 0, found ${process.env[name]}`);
  return value;
}
