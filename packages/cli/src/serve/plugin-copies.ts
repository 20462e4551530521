import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { nodeFiles } from '@atrium/adapters/files'
import { containedFiles } from '@atrium/host/plugins/plugin-files'
import type { CopiedFile, PluginCopies } from '@atrium/host/plugins/plugin-copies'

/**
 * Keeps copies of plugins below a folder. Empties the folder first, because it may hold copies of plugins that are
 * gone.
 */
export async function pluginCopies(folder: string): Promise<PluginCopies> {
  await rm(folder, { recursive: true, force: true })
  const files = nodeFiles({})
  const pathOf = (digest: string) => join(folder, digest)
  return {
    at: (digest) => ({ path: pathOf(digest), files: containedFiles(files, pathOf(digest)) }),
    async write(digest, copied) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const temporary = await mkdtemp(join(folder, 'new-'))
      try {
        for (const file of copied) await writeCopy(temporary, file)
        await rm(pathOf(digest), { recursive: true, force: true })
        await rename(temporary, pathOf(digest))
      } catch (error) {
        await rm(temporary, { recursive: true, force: true })
        throw error
      }
    },
  }
}

async function writeCopy(folder: string, { path, content }: CopiedFile): Promise<void> {
  const file = join(folder, path)
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writeFile(file, content, { mode: 0o600, flag: 'wx' })
  // A client does not say which files are executable. A file that begins with `#!` is a script and becomes
  // executable.
  if (content[0] === 0x23 && content[1] === 0x21) await chmod(file, 0o700)
}
