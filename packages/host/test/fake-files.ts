import { FileError } from '../src/ports/files.ts'
import type {
  Change,
  FileStat,
  FileEntry,
  Files,
  ContainedPath,
  WatchListener,
  FileWatch,
  WatchRequest,
  Write,
} from '../src/ports/files.ts'

/** Files in memory that record the calls of a host. They do not model a real file system. */
export class FakeFiles implements Files {
  readonly files = new Map<string, Uint8Array>()
  /** Empty directories. */
  readonly folders = new Set<string>()
  /** Symbolic links: each path with its target. */
  readonly links = new Map<string, string>()
  readonly asked: { readonly what: string; readonly place: ContainedPath }[] = []
  readonly changes: Change[] = []
  readonly watches: {
    readonly place: ContainedPath
    readonly request: WatchRequest
    readonly notify: WatchListener
    ended: boolean
  }[] = []
  /** The error that the next call throws, if any. */
  trouble: Error | undefined
  /** If true, calls never resolve. */
  hangs = false

  put(path: string, text: string | Uint8Array): void {
    this.files.set(path, typeof text === 'string' ? new TextEncoder().encode(text) : text)
  }

  async read(place: ContainedPath, most: number): Promise<Uint8Array> {
    await this.#ask('read', place)
    const bytes = this.files.get(this.#real(place))
    if (!bytes) throw new FileError('missing', 'there is no such file')
    if (bytes.length > most) throw new FileError('unfit', `it has more than ${most} bytes`)
    return bytes
  }

  async write(place: ContainedPath, data: Uint8Array, how: Write = {}): Promise<void> {
    await this.#ask(`write ${JSON.stringify(how)}`, place)
    this.files.set(this.#real(place), data)
  }

  async list(place: ContainedPath, most: number): Promise<readonly FileEntry[]> {
    await this.#ask('list', place)
    const below = place.path === '/' ? '/' : `${place.path}/`
    const paths = [...this.files.keys()].filter((path) => path.startsWith(below))
    const names = new Map(
      paths.map((path) => {
        const [name = '', ...deeper] = path.slice(below.length).split('/')
        return [name, deeper.length > 0 ? 'directory' : 'file'] as const
      }),
    )
    if (names.size > most) throw new FileError('unfit', `it has more than ${most} entries`)
    return [...names].map(([name, type]) => ({ name, type }))
  }

  async stat(place: ContainedPath): Promise<FileStat> {
    const { path, roots } = place
    // The host asks whether the directory of a new session exists. It does, unless the test says otherwise.
    if (roots.length === 1 && roots[0] === path && !this.#real(place).startsWith(missing))
      return { path, type: 'directory', size: 0, mtime: 1000, ctime: 2000, etag: 'e1' }
    await this.#ask('look', place)
    const real = this.#real(place)
    const bytes = this.files.get(real)
    const isFolder =
      this.folders.has(real) || [...this.files.keys()].some((path) => path.startsWith(`${real}/`))
    if (!bytes && !isFolder) throw new FileError('missing', 'there is no such file')
    const type = bytes ? 'file' : 'directory'
    return { path: real, type, size: bytes?.length ?? 0, mtime: 1000, ctime: 2000, etag: 'e1' }
  }

  async change(change: Change): Promise<void> {
    this.changes.push(change)
    await this.#ask(change.kind, 'place' in change ? change.place : change.to)
  }

  async watch(place: ContainedPath, request: WatchRequest, notify: WatchListener): Promise<FileWatch> {
    await this.#ask('watch', place)
    const watch = { place, request, notify, ended: false }
    this.watches.push(watch)
    return {
      end: async () => {
        watch.ended = true
      },
    }
  }

  #real({ path }: ContainedPath): string {
    for (const [from, to] of this.links)
      if (path === from || path.startsWith(`${from}/`)) return `${to}${path.slice(from.length)}`
    return path
  }

  async #ask(what: string, place: ContainedPath): Promise<void> {
    this.asked.push({ what, place })
    const { trouble } = this
    this.trouble = undefined
    if (trouble) throw trouble
    if (this.hangs) await new Promise(() => {})
  }
}

/** No directory of a session under this path exists. */
const missing = '/missing'
