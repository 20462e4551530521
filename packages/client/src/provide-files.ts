import type { Uri } from '@atrium/protocol/channel'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import { toBase64 } from '@atrium/protocol/text/base64'
import type { HostRequests } from './link/host-requests.ts'

/** Files by their paths below a folder, with `/` between the names. */
export interface ProvidedFiles {
  readonly [path: string]: string | Uint8Array
}

type FileRequests = Pick<HostRequests, 'resourceList' | 'resourceRead'>

/**
 * Returns the answers to a host that reads files of this client, for example of a plugin that the client has published. The
 * files need not exist on a disk. `root` is the URI of the folder that they are in, such as `app:/my-plugin`.
 */
export function provideFiles(root: Uri, files: ProvidedFiles): FileRequests {
  const contents = new Map(Object.entries(files))
  return {
    resourceList({ uri }) {
      const folder = pathBelow(root, uri)
      const names = new Map<string, 'file' | 'directory'>()
      for (const path of contents.keys()) {
        const rest = folder === '' ? path : path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : ''
        const [name = '', ...below] = rest.split('/')
        if (name !== '') names.set(name, below.length > 0 ? 'directory' : 'file')
      }
      if (names.size === 0) throw notFound(uri)
      return { entries: [...names].map(([name, type]) => ({ name, type })) }
    },
    resourceRead({ uri }) {
      const content = contents.get(pathBelow(root, uri))
      if (content === undefined) throw notFound(uri)
      return typeof content === 'string'
        ? { data: content, encoding: 'utf-8' }
        : { data: toBase64(content), encoding: 'base64' }
    },
  }
}

function pathBelow(root: Uri, uri: Uri): string {
  if (uri === root) return ''
  const folder = root.endsWith('/') ? root : `${root}/`
  if (!uri.startsWith(folder)) throw notFound(uri)
  try {
    return decodeURIComponent(uri.slice(folder.length))
  } catch {
    throw notFound(uri)
  }
}

function notFound(uri: Uri): AhpError {
  return new AhpError(errorCodes.NotFound, `this client has no ${uri}`)
}
