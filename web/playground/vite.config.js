import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { defineConfig } from 'vite';

const out = fileURLToPath(new URL('../dist/playground', import.meta.url));

// compressed leaves each file that was built as gzip has it, and in no other form: so it is in the binary,
// and so nearly every client takes it.
function compressed() {
  return {
    name: 'compressed',
    apply: 'build',
    closeBundle() {
      for (const entry of readdirSync(out, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile()) continue;
        const path = join(entry.parentPath, entry.name);
        writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
        rmSync(path);
      }
    },
  };
}

// With `npm run dev` the page is Vite's and the API that of a server that runs.
const api = { target: process.env.SLIPWAY_SERVER ?? 'http://127.0.0.1:8090', changeOrigin: true, ws: true };

export default defineConfig({
  // The page is /playground, below any prefix of a proxy, and its files are below that.
  base: './',
  experimental: {
    renderBuiltUrl: (file, { hostType }) => (hostType === 'html' ? `playground/${file}` : { relative: true }),
  },
  build: {
    outDir: out,
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 5000,
    rolldownOptions: {
      // Libraries mark their modules for servers that render React, which there are none of here.
      onLog: (level, log, tell) => log.code === 'MODULE_LEVEL_DIRECTIVE' || tell(level, log),
    },
  },
  worker: { format: 'es' },
  server: { proxy: { '/graphql': api, '/playground/config.json': api } },
  plugins: [compressed()],
});
