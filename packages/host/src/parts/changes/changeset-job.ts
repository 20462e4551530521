import { vcsOf } from '../../catalog/machine.ts'
import { filesOf } from '../../catalog/machine.ts'
import type { ChangesetFile, ChangesetOperation } from '@atrium/protocol/changeset/state'
import type { ErrorInfo } from '@atrium/protocol/common/content'
import { compact } from '@atrium/protocol/update'
import type { ChangesetAction } from '@atrium/protocol/changeset/actions'
import type { Core } from '../../kernel/core.ts'
import type { Job } from '../../kernel/jobs.ts'
import { equal } from '../../kernel/log/equal.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import type { FileWatch, WatchRequest } from '../../ports/files.ts'
import { withReviews } from './changeset-files.ts'

/** What a changeset shows. */
export interface Computed {
  readonly files: readonly ChangesetFile[]
  readonly operations: readonly ChangesetOperation[]
  readonly error?: ErrorInfo
}

/**
 * Computes a changeset as long as it has subscribers: at once, and whenever its files change. The result goes to the log like
 * everything else that clients see, because clients of every version replay it, and because marks of reviewers are actions on
 * it. Contents are not part of it, so the log stays small.
 */
export class ChangesetJob implements Job {
  readonly #core: Core
  readonly #channel: Channel<'changeset'>
  readonly #compute: () => Promise<Computed>
  readonly #watches: Promise<readonly FileWatch[]>[]
  #computing: Promise<void> | undefined
  #again = false
  #stopped = false
  #cancelDelay: (() => void) | undefined

  constructor(
    core: Core,
    channel: Channel<'changeset'>,
    followed: Followed,
    compute: () => Promise<Computed>,
  ) {
    this.#core = core
    this.#channel = channel
    this.#compute = compute
    this.#watches = [
      ...followed.directories.map((directory) => this.#watch(directory, ofFiles)),
      ...followed.repositories.map((directory) => this.#watchRepository(directory)),
    ]
  }

  /** Computes the changeset again. Resolves when all changes until now are published. */
  refresh(): Promise<void> {
    this.#again = true
    this.#computing ??= this.#run().finally(() => (this.#computing = undefined))
    return this.#computing
  }

  unsubscribed(): void {
    if (this.#channel.listeners.size === 0) this.#core.jobs.stop(this.#channel.uri)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancelDelay?.()
    const watches = (await Promise.all(this.#watches)).flat()
    await Promise.all(watches.map((watch) => watch.end()))
  }

  async #run(): Promise<void> {
    while (this.#again && !this.#stopped) {
      this.#again = false
      const { world, limits } = this.#core
      const since = this.#channel.head.files
      // A quick computation is not announced: clients would only flicker.
      const cancel = world.later(limits.recomputingMs, () => this.#announce())
      const computed = await this.#compute().catch((error: unknown): Computed => {
        world.report('computing a changeset failed', error)
        return failed('The changes could not be computed.')
      })
      cancel()
      if (!this.#gone) this.#publish(computed, since)
    }
  }

  /** Whether nothing may be published any more. */
  get #gone(): boolean {
    const { log, readOnlyReason } = this.#core
    return this.#stopped || log.channel(this.#channel.uri) !== this.#channel || readOnlyReason() !== undefined
  }

  #announce(): void {
    if (!this.#gone && this.#channel.head.status === 'ready')
      this.#append({ type: 'changeset/statusChanged', status: 'recomputing' })
  }

  #publish({ files: found, operations, error }: Computed, since: readonly ChangesetFile[]): void {
    const { head } = this.#channel
    const files = withReviews(found, head.files, since)
    const changed = files.filter((file, at) => !equal(file, head.files[at]))
    const sameFiles =
      files.length === head.files.length && files.every(({ id }, at) => id === head.files[at]?.id)
    if (sameFiles && changed.length <= fewFiles && head.operations) {
      for (const file of changed) this.#append({ type: 'changeset/fileSet', file })
      if (!equal(operations, head.operations))
        this.#append({ type: 'changeset/operationsChanged', operations })
    } else this.#append({ type: 'changeset/contentChanged', files, operations })
    const status = error ? 'error' : 'ready'
    if (head.status !== status || !equal(head.error, error))
      this.#append(compact<ChangesetAction>({ type: 'changeset/statusChanged', status, error }))
  }

  #append(action: ChangesetAction): void {
    this.#core.log.append(this.#channel, action)
  }

  /** Follows the commits, checkouts and changes of the index that somebody makes in the repository of a directory. */
  async #watchRepository(directory: string): Promise<readonly FileWatch[]> {
    const vcs = vcsOf(this.#core)
    try {
      const root = await vcs?.root(directory)
      const found = root === undefined ? [] : ((await vcs?.gitDirectories(root)) ?? [])
      return (await Promise.all(found.map((each) => this.#watch(each, ofCommits)))).flat()
    } catch {
      return []
    }
  }

  async #watch(directory: string, request: WatchRequest): Promise<readonly FileWatch[]> {
    const { world, limits } = this.#core
    const files = filesOf(this.#core)
    const listener = () => {
      this.#cancelDelay?.()
      this.#cancelDelay = world.later(limits.refreshMs, () => void this.refresh())
    }
    // A folder that cannot be watched is still computed when somebody subscribes, and after every turn.
    const watch = files?.watch({ path: directory, roots: [directory] }, request, listener)
    const watching = await watch?.catch(() => undefined)
    return watching ? [watching] : []
  }
}

/** The directories that are watched for a changeset with subscribers. */
export interface Followed {
  readonly directories: readonly string[]
  /** The directories in whose repositories commits, checkouts and the index are watched, too. */
  readonly repositories: readonly string[]
}

/** The working files. What version control and package managers write is left out. */
const ofFiles: WatchRequest = {
  recursive: true,
  wants: (path) => !ofFiles.skips(path),
  skips: (path) => /(^|\/)(\.git|node_modules)(\/|$)/.test(path),
}

/** The files of a git directory that name the commit that is checked out, the branches, and what is staged. */
const ofCommits: WatchRequest = {
  recursive: true,
  wants: (path) => /^(HEAD|index|packed-refs|refs\/.*)$/.test(path) && !path.endsWith('.lock'),
  skips: (path) => path !== '' && !/^refs(\/|$)/.test(path),
}

export function failed(message: string): Computed {
  return { files: [], operations: [], error: { errorType: 'changes', message } }
}

/**
 * Up to this number of changed files, each one is published by an action of its own. If there are more, one action
 * publishes all files.
 */
const fewFiles = 20
