import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

/** Bundles a module of this package from its sources, so that a child process can run it. */
export async function bundle(module: string): Promise<{ readonly path: string; remove(): void }> {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-bundle-'))
  await build({
    configFile: false,
    logLevel: 'silent',
    resolve: { conditions: ['atrium-source'] },
    ssr: { noExternal: true, resolve: { conditions: ['atrium-source'] } },
    build: {
      ssr: fileURLToPath(new URL(`../src/${module}.ts`, import.meta.url)),
      outDir: folder,
      rollupOptions: { output: { entryFileNames: 'module.mjs' } },
      minify: false,
    },
  })
  return {
    path: join(folder, 'module.mjs'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
