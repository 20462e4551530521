import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync } from 'node:fs'
import { join, parse } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { folderOfRun } from '../../../test/environment.ts'
import { sourceAliases } from '../../../test/sources.ts'

/**
 * Bundles a module of this package from its sources, so that a child process can load it, and loads it quickly. One bundle serves
 * all files of a test run. Returns its path.
 */
export async function bundle(file: string): Promise<string> {
  const bundles = join(folderOfRun(), 'bundles')
  const folder = join(bundles, file.replaceAll('/', '-'))
  const name = `${parse(file).name}.mjs`
  if (existsSync(folder)) return join(folder, name)
  mkdirSync(bundles, { recursive: true })
  const made = mkdtempSync(join(bundles, 'new-'))
  await build({
    configFile: false,
    logLevel: 'silent',
    resolve: { alias: [...sourceAliases(fileURLToPath(new URL('../../..', import.meta.url)))] },
    ssr: { noExternal: true },
    build: {
      ssr: fileURLToPath(new URL(`../${file}`, import.meta.url)),
      outDir: made,
      rollupOptions: { output: { entryFileNames: name } },
      minify: false,
    },
  })
  // Some tests load it as another user, who must be able to enter its folder.
  chmodSync(made, 0o755)
  // Another worker may have been sooner.
  if (!existsSync(folder)) renameSync(made, folder)
  return join(folder, name)
}
