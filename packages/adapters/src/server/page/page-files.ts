import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { extname, join } from 'node:path'

/** A file of the page, as it is sent. */
export interface PageFile {
  readonly type: string
  readonly etag: string
  readonly bytes: Buffer
  /** The bytes, compressed by the build. Absent if they would not be smaller. */
  readonly gzip: Buffer | undefined
  /** Whether the name contains a hash of the content, so that the content under this name never changes. */
  readonly immutable: boolean
}

/**
 * The time after which the list of the files may be too old, in ms. If a path is not in such a list, the folder is
 * listed again, because a new build has files of other names.
 */
const listMs = 1000

/** The files of the page by their paths. */
export class PageFiles {
  readonly #folder: string
  readonly #now: () => number
  #names: Promise<ReadonlySet<string>> | undefined
  #listedAt = 0

  constructor(folder: string, now: () => number) {
    this.#folder = folder
    this.#now = now
  }

  /** Returns the file at a path of the page. The path is looked up in a list, so no path leads out of the folder. */
  async find(path: string): Promise<PageFile | undefined> {
    const name = path === '/' ? 'index.html' : path.slice(1)
    const names = await this.#listed(name)
    const type = types[extname(name)]
    if (!names.has(name) || type === undefined) return undefined
    const bytes = await readFile(join(this.#folder, name))
    const gzip = names.has(`${name}.gz`) ? await readFile(join(this.#folder, `${name}.gz`)) : undefined
    const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
    return { type, etag, bytes, gzip, immutable: name.startsWith('assets/') }
  }

  async #listed(name: string): Promise<ReadonlySet<string>> {
    const known = await this.#names
    if (known?.has(name) || (known && this.#now() - this.#listedAt < listMs)) return known
    this.#listedAt = this.#now()
    return (this.#names = namesIn(this.#folder))
  }
}

async function namesIn(folder: string): Promise<ReadonlySet<string>> {
  const names = async (below: string): Promise<readonly string[]> => {
    const entries = await readdir(join(folder, below), { withFileTypes: true })
    const found = entries.map(async (entry) =>
      entry.isDirectory() ? names(`${below}${entry.name}/`) : [`${below}${entry.name}`],
    )
    return (await Promise.all(found)).flat()
  }
  return new Set(await names(''))
}

const types: { readonly [extension: string]: string | undefined } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
}
