import { FileError } from '../../src/ports/files.ts'
import { tooLarge } from '../../src/plugins/plugin-files.ts'
import type { FileEntry } from '../../src/ports/files.ts'
import type { PluginFiles } from '../../src/plugins/plugin-files.ts'
import { bytesOf } from './folder.ts'
import type { Contents } from './folder.ts'

/** The files of a plugin in memory, and the paths that were asked for. */
export interface MemoryFiles extends PluginFiles {
  readonly asked: string[]
}

export function memoryFiles(contents: Contents, root = 'plugin:/mine'): MemoryFiles {
  const folders = new Map<string, Map<string, FileEntry>>([['', new Map()]])
  for (const path of Object.keys(contents)) {
    const names = path.split('/')
    names.forEach((name, depth) => {
      const above = names.slice(0, depth).join('/')
      const type = depth === names.length - 1 ? 'file' : 'directory'
      const entries = folders.get(above) ?? new Map<string, FileEntry>()
      folders.set(above, entries.set(name, { name, type }))
    })
  }
  const asked: string[] = []
  return {
    asked,
    uri: (path) => (path === '' ? root : `${root}/${path}`),
    async list(path, max) {
      asked.push(`${path}/`)
      const entries = folders.get(path)
      if (!entries && Object.hasOwn(contents, path)) throw new FileError('unfit', 'It is not a directory.')
      if (!entries) throw new FileError('missing', 'There is no file or directory of that name.')
      if (entries.size > max) throw new FileError('unfit', `It has more than ${max} entries.`)
      return [...entries.values()]
    },
    async read(path, max) {
      asked.push(path)
      const content = Object.hasOwn(contents, path) ? contents[path] : undefined
      if (content === undefined) throw new FileError('missing', 'There is no file or directory of that name.')
      const bytes = bytesOf(content)
      if (bytes.length > max) throw tooLarge(max)
      return bytes
    },
  }
}
