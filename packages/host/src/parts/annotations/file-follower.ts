import { filesOf } from '../../catalog/machine.ts'
import { pathOf } from '@atrium/protocol/file-uri'
import type { Core } from '../../kernel/core.ts'
import type { Job } from '../../kernel/jobs.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import type { FileChange, FileWatch } from '../../ports/files.ts'
import { containedPath } from '../access/roots.ts'
import { fileUri } from '@atrium/protocol/file-uri'
import { isFile } from '../resources/client-files.ts'
import { attempt } from '../resources/resources.ts'
import { followChannel } from './followed-files.ts'

/** The time in which changes of files are collected before the files are read. */
const collectMs = 200

/**
 * Watches the files of a session's annotations while somebody is subscribed to the annotations. Also reads the files
 * now, so that a new subscriber gets annotations that are up to date.
 */
export function watchFiles(core: Core, channel: Channel<'annotations'>): void {
  if (!filesOf(core) || core.jobs.stopping) return
  const running = core.jobs.job(channel.uri)
  const follower = running instanceof FileFollower ? running : new FileFollower(core, channel)
  if (follower !== running) core.jobs.begin(channel.uri, follower)
  follower.refresh()
  void followChannel(core, channel)
}

/**
 * Call after annotations have changed. Moves the annotations to where their texts are now. If somebody is subscribed,
 * the files of new annotations are watched from now on.
 */
export function filesChosen(core: Core, channel: Channel<'annotations'>): void {
  const running = core.jobs.job(channel.uri)
  if (running instanceof FileFollower) running.refresh()
  void followChannel(core, channel)
}

class FileFollower implements Job {
  readonly #core: Core
  readonly #channel: Channel<'annotations'>
  /** The watches by folder. Editors replace files, so folders are watched and not the files. */
  readonly #watches = new Map<string, Promise<FileWatch | undefined>>()
  #names: ReadonlySet<string> = new Set()
  #cancel: (() => void) | undefined
  #stopped = false

  constructor(core: Core, channel: Channel<'annotations'>) {
    this.#core = core
    this.#channel = channel
  }

  /**
   * Watches the folders that contain files of the present annotations, up to a limit. Ends the watches of all others.
   */
  refresh(): void {
    if (this.#stopped) return
    const paths = this.#channel.head.annotations.flatMap(({ resource }) => {
      const named = isFile(resource) ? pathOf(resource) : undefined
      return named?.ok ? [named.path] : []
    })
    this.#names = new Set(paths)
    const folders = new Set(paths.map(folderOf))
    const wanted = [...folders].slice(0, this.#core.limits.annotatedFolders)
    for (const [folder, watch] of this.#watches)
      if (!wanted.includes(folder)) {
        this.#watches.delete(folder)
        void watch.then((each) => each?.end())
      }
    for (const folder of wanted)
      if (!this.#watches.has(folder)) this.#watches.set(folder, this.#watch(folder))
  }

  unsubscribed(): void {
    if (this.#channel.listeners.size === 0) this.#core.jobs.stop(this.#channel.uri)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancel?.()
    const watches = await Promise.all(this.#watches.values())
    this.#watches.clear()
    await Promise.all(watches.flatMap((watch) => watch?.end() ?? []))
  }

  /**
   * Watches a folder. Returns undefined if the folder cannot be watched. Its files are then still read after each
   * turn.
   */
  async #watch(folder: string): Promise<FileWatch | undefined> {
    const uri = fileUri(folder)
    const request = {
      recursive: false,
      wants: (path: string) => path === '' || this.#names.has(joined(folder, path)),
      skips: () => false,
    }
    const seen = (changes: readonly FileChange[], lost: boolean) => {
      if (lost || changes.length > 0) this.#changed()
    }
    try {
      const place = containedPath(this.#core, uri, 'read')
      return await attempt(this.#core, uri, 'read', (files) => files.watch(place, request, seen))
    } catch {
      return undefined
    }
  }

  #changed(): void {
    if (this.#stopped || this.#cancel) return
    this.#cancel = this.#core.world.later(collectMs, () => {
      this.#cancel = undefined
      void followChannel(this.#core, this.#channel)
    })
  }
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/'
}

function joined(folder: string, name: string): string {
  return folder === '/' ? `/${name}` : `${folder}/${name}`
}
