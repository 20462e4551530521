import type { Params, Result } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import { fileUri } from '@atrium/protocol/file-uri'
import { glob } from '@atrium/protocol/text/glob'
import type { Glob } from '@atrium/protocol/text/glob'
import type { ResourceWatchAction } from '@atrium/protocol/resource-watch/actions'
import type { ResourceWatchState } from '@atrium/protocol/resource-watch/state'
import { compact } from '@atrium/protocol/update'
import { resourceWatchUri } from '@atrium/protocol/uri'
import { changeable } from '../../channels/names.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Core } from '../../kernel/core.ts'
import type { FileChange, FileWatch, WatchRequest } from '../../ports/files.ts'
import { attempt } from './resources.ts'
import { containedPath } from '../access/roots.ts'
import type { Job } from '../../kernel/jobs.ts'

export async function createResourceWatch(
  core: Core,
  params: Params<'createResourceWatch'>,
): Promise<Result<'createResourceWatch'>> {
  changeable(core)
  const { uri, recursive = false, includes, excludes } = params
  const request = requestOf(core, params)
  const place = containedPath(core, uri, 'read')
  if (core.jobs.count(Watch) >= core.limits.watches)
    throw AhpError.permissionDenied(
      `there are ${core.limits.watches} watches already: unsubscribe from some first`,
    )
  const state = compact<ResourceWatchState>({ root: uri, recursive, includes, excludes })
  const channel = core.log.create(resourceWatchUri(core.world.id()), 'resourceWatch', state)
  const watch = new Watch(core, channel, place.path)
  core.jobs.begin(channel.uri, watch)
  // A watch ends with its host. The channel is marked as unfinished work, so that the next start of the host removes it.
  core.jobs.mark(channel.uri, true)
  try {
    const listener = (changes: readonly FileChange[], lost: boolean) => watch.report(changes, lost)
    watch.started(await attempt(core, uri, 'read', (files) => files.watch(place, request, listener)))
  } catch (error) {
    releaseWatch(core, channel)
    throw error
  }
  await core.log.reached(core.log.last)
  return { channel: channel.uri }
}

/** Watches a part of the disk as long as the channel has subscribers. */
class Watch implements Job {
  readonly #core: Core
  readonly #channel: Channel
  readonly #path: string
  #watching: FileWatch | undefined
  #stopped = false
  #cancel: () => void

  constructor(core: Core, channel: Channel, path: string) {
    this.#core = core
    this.#channel = channel
    this.#path = path
    this.#cancel = core.world.later(core.limits.watchUnusedMs, () => this.unsubscribed())
  }

  started(watching: FileWatch): void {
    this.#watching = watching
    if (this.#stopped) void watching.end()
  }

  report(changes: readonly FileChange[], lost: boolean): void {
    if (this.#stopped) return
    // If changes were lost, an update of the root itself tells subscribers to read everything again.
    const all: readonly FileChange[] = lost ? [{ path: '', type: 'updated' }, ...changes] : changes
    const items = all.map(({ path, type }) => ({ uri: fileUri(joined(this.#path, path)), type }))
    if (items.length === 0) return
    const action: ResourceWatchAction = { type: 'resourceWatch/changed', changes: { items } }
    const sent = lost ? { ...action, _meta: { 'x-atrium': { rescan: true } } } : action
    this.#core.log.append(this.#channel, sent)
  }

  unsubscribed(): void {
    if (this.#channel.listeners.size === 0) releaseWatch(this.#core, this.#channel)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancel()
    await this.#watching?.end()
  }
}

/** Stops a watch and drops its channel. */
export function releaseWatch(core: Core, channel: Channel): void {
  core.jobs.mark(channel.uri, false)
  core.jobs.stop(channel.uri)
  if (core.log.channel(channel.uri) === channel) core.log.drop(channel)
}

function requestOf(
  core: Core,
  { recursive = false, includes, excludes }: Params<'createResourceWatch'>,
): WatchRequest {
  const included = includes?.items.map(compiled)
  const excluded = excludes?.items.map(compiled) ?? []
  if (excluded.length + (included?.length ?? 0) > core.limits.globs)
    throw AhpError.invalidParams(`createResourceWatch: at most ${core.limits.globs} patterns`)
  const skips = (path: string) => excluded.some((matches) => matches(path))
  return {
    recursive,
    skips,
    wants: (path) => !skips(path) && (path === '' || !included || included.some((matches) => matches(path))),
  }
}

function compiled(pattern: string): Glob {
  const matches = glob(pattern)
  if (!matches)
    throw AhpError.invalidParams(`createResourceWatch: bad pattern ${JSON.stringify(pattern.slice(0, 100))}`)
  return matches
}

function joined(root: string, path: string): string {
  if (path === '') return root
  return root === '/' ? `/${path}` : `${root}/${path}`
}
