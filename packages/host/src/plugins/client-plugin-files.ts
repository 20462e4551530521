import type { Uri } from '@atrium/protocol/channel'
import type { Params, Result } from '@atrium/protocol/commands'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import { limits } from '@atrium/protocol/limits'
import { fromBase64 } from '@atrium/protocol/text/base64'
import { FileError } from '../ports/files.ts'
import type { FileEntry } from '../ports/files.ts'
import { checked, isName, joined, tooLarge } from './plugin-files.ts'
import type { PluginFiles } from './plugin-files.ts'
import { printable } from './parse/plugin-text.ts'

/** Sends a request about a resource to the client that owns the resource's URI. Rejects with an `AhpError`. */
export type AskForResource = <M extends 'resourceList' | 'resourceRead'>(
  method: M,
  params: Params<M> & { readonly uri: Uri },
) => Promise<Result<M>>

/**
 * The files of a plugin that a client has published, read through the client. They are made for one load: each directory is
 * listed once. Everything that the client says is checked, because a client is not trusted.
 */
export function clientPluginFiles(ask: AskForResource, root: Uri): PluginFiles {
  const lists = new Map<string, Promise<readonly FileEntry[]>>()
  const uri = (path: string) => uriBelow(root, path)

  const requested = async <T>(path: string, request: () => Promise<T>): Promise<T> => {
    try {
      return await request()
    } catch (error) {
      if (!(error instanceof AhpError)) throw error
      if (error.code === errorCodes.MethodNotFound)
        throw new FileError(
          'refused',
          'The client gives no files to the host, or its version of AHP has no request for them.',
        )
      if (error.code === errorCodes.NotFound && (await isMissing(path)))
        throw new FileError('missing', 'There is no file or directory of that name.')
      throw new FileError('refused', `The client did not give it: ${printable(error.message)}`)
    }
  }

  /**
   * Whether the client says that the file does not exist. The error for the file does not show this, because a client
   * that has left or does not answer causes the same error. So the client is asked to list the directory: the file is
   * missing if the list does not have it, or if the directory is missing, too.
   */
  const isMissing = async (path: string): Promise<boolean> => {
    if (path === '') return false
    const [folder, name] = splitPath(path)
    try {
      return !(await listed(folder)).some((entry) => entry.name === name)
    } catch (error) {
      return error instanceof FileError && error.reason === 'missing'
    }
  }

  const listed = (path: string): Promise<readonly FileEntry[]> => {
    const list =
      lists.get(path) ?? requested(path, async () => entriesOf(await ask('resourceList', at(path))))
    lists.set(path, list)
    return list
  }
  const at = (path: string) => ({ channel: rootChannel, uri: uri(short(checked(path))) })

  return {
    uri,
    async list(path, max) {
      const entries = await listed(path)
      if (entries.length > max) throw new FileError('unfit', `It has more than ${max} entries.`)
      return entries
    },
    async read(path, max) {
      const bytes = await requested(path, async () =>
        bytesOf(await ask('resourceRead', { ...at(path), encoding: 'base64' })),
      )
      if (bytes.length > max) throw tooLarge(max)
      return bytes
    },
  }
}

const rootChannel = 'ahp-root://'

/** Makes the URI of a file in a folder. A query of the folder's URI stays at the end. */
function uriBelow(root: Uri, path: string): Uri {
  if (path === '') return root
  const end = root.search(/[?#]/)
  const [folder, rest] = end < 0 ? [root, ''] : [root.slice(0, end), root.slice(end)]
  return joined(folder, path.split('/').map(encodeURIComponent).join('/')) + rest
}

function splitPath(path: string): readonly [folder: string, name: string] {
  const slash = path.lastIndexOf('/')
  return slash < 0 ? ['', path] : [path.slice(0, slash), path.slice(slash + 1)]
}

function short(path: string): string {
  if (path.length > limits.pathBytes) throw new FileError('refused', 'The path is too long.')
  return path
}

/**
 * Selects the entries that have a valid file name. Of several entries with the same name, the first counts. A
 * symbolic link counts as a file, because only the client could follow it.
 */
function entriesOf({ entries }: Result<'resourceList'>): readonly FileEntry[] {
  const byName = new Map<string, FileEntry>()
  for (const { name, type } of entries)
    if (isName(name) && !byName.has(name))
      byName.set(name, { name, type: type === 'directory' ? 'directory' : 'file' })
  return [...byName.values()]
}

function bytesOf({ data, encoding }: Result<'resourceRead'>): Uint8Array {
  const bytes = encoding === 'base64' ? fromBase64(data) : new TextEncoder().encode(data)
  if (!bytes) throw new FileError('refused', 'The client sent content that is not base64.')
  return bytes
}
