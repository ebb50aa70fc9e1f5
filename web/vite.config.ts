// SPDX-License-Identifier: Apache-2.0
import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin } from 'vite';

// `npm run dev` shows the pages over a server that runs: its Unix socket asks for no token.
function runningServer(): Plugin {
  const socketPath = `${process.env.BERTH_DATA ?? ''}/berth.sock`;
  return {
    name: 'running-server',
    configureServer(server) {
      server.middlewares.use((asked, answer, next) => {
        if (!asked.url?.startsWith('/api/')) return next();
        const { method, url: path, headers } = asked;
        const passed = request({ socketPath, method, path, headers }, (found) => {
          answer.writeHead(found.statusCode ?? 502, found.headers);
          found.pipe(answer);
        });
        passed.on('error', () => answer.writeHead(502).end());
        asked.pipe(passed);
      });
    },
  };
}

// What of others is in the scripts, with their licences, as these ask.
function licences(): Plugin {
  return {
    name: 'licences',
    generateBundle(_, bundle) {
      const folders = new Set<string>();
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== 'chunk') continue;
        for (const id of Object.keys(chunk.modules)) {
          const found = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id);
          if (found) folders.add(found[0]);
        }
      }
      const texts = [...folders].sort().map((folder) => {
        const { name, version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
        const licence = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
        if (!licence) throw new Error(`${name}: no licence is in ${folder}`);
        return `${name} ${version}\n\n${readFileSync(`${folder}/${licence}`, 'utf8').trim()}\n`;
      });
      this.emitFile({ type: 'asset', fileName: 'licences.txt', source: texts.join('\n\n') });
    },
  };
}

export default defineConfig({
  base: './', // no page knows the prefix it is served below
  plugins: [svelte(), runningServer(), licences()],
  build: {
    target: 'es2022',
    assetsInlineLimit: 0, // the content policy allows no data: addresses
    modulePreload: { polyfill: false },
  },
});
