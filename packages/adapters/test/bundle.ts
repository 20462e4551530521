import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, parse } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { sourceAliases } from '../../../test/sources.ts'

/** Bundles a module of this package from its sources, so that a child process can load it, and loads it quickly. */
export async function bundle(file: string): Promise<{ readonly path: string; remove(): void }> {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-bundle-'))
  const name = `${parse(file).name}.mjs`
  await build({
    configFile: false,
    logLevel: 'silent',
    resolve: { alias: [...sourceAliases(fileURLToPath(new URL('../../..', import.meta.url)))] },
    ssr: { noExternal: true },
    build: {
      ssr: fileURLToPath(new URL(`../${file}`, import.meta.url)),
      outDir: folder,
      rollupOptions: { output: { entryFileNames: name } },
      minify: false,
    },
  })
  return {
    path: join(folder, name),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
