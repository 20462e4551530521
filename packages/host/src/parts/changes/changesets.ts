import { catalogOf } from '../../catalog/catalog.ts'
import { machinesOf } from '../../catalog/machines.ts'
import type { Uri } from '@atrium/protocol/channel'
import { AhpError } from '@atrium/protocol/errors'
import { primaryChat } from '@atrium/protocol/session/primary-chat'
import { wakeIfSound } from '../../channels/wake.ts'
import type { Core } from '../../kernel/core.ts'
import { RecordMap, textFormat } from '../../kernel/record-map.ts'
import { unloaded } from '../../kernel/log/channel.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Records } from '../../ports/records.ts'
import { ChangesetJob } from './changeset-job.ts'
import { parseChangesetUri } from '../../catalog/changeset-uri.ts'
import type { ChangesetName, ChangesetScope } from '../../catalog/changeset-uri.ts'
import type { Computation, Subject } from './computation.ts'
import { pathsIn } from './directories.ts'
import type { Reviews } from './review/reviews.ts'

interface ChangesetParts {
  readonly core: () => Core
  readonly computation: Computation
  readonly reviews: Reviews
}

/** The channels of changesets. A channel is created when somebody first subscribes to it, and is dropped with its owner. */
export class Changesets {
  readonly #core: () => Core
  readonly #computation: Computation
  readonly #reviews: Reviews
  /**
   * The URI of each changeset channel that exists, and the chat whose turns the channel shows. The chat is an empty string if
   * it is the default chat, if the URI itself names it, or if the changeset shows no turns.
   */
  readonly #known: RecordMap<string>

  private constructor({ core, computation, reviews }: ChangesetParts, known: RecordMap<string>) {
    this.#core = core
    this.#computation = computation
    this.#reviews = reviews
    this.#known = known
  }

  static async open(parts: ChangesetParts, records: Records): Promise<Changesets> {
    return new Changesets(parts, await RecordMap.open(records, 'changeset/', textFormat))
  }

  has(uri: Uri): boolean {
    return this.#known.has(uri)
  }

  /** Creates the channel of a changeset. Undefined if the URI names no changeset, or if the host is read-only. */
  async create(uri: Uri): Promise<Channel | undefined> {
    const core = this.#core()
    const subject = await this.subject(uri)
    if (!subject || core.readOnlyReason() !== undefined) return undefined
    const there = core.log.channel(uri)
    if (there) return there
    const { session, chat, scope } = subject
    const siblings = this.#known.keys().filter((known) => sessionNamed(core, known) === session.uri)
    // The limit is for the changesets of turns. The few changesets of the session itself can always be created.
    if (turnsOf(scope).length > 0 && siblings.length >= core.limits.changesets)
      throw AhpError.permissionDenied(`a session has at most ${core.limits.changesets} changesets`)
    const isNamed = !chat || uri.startsWith(`${chat.uri}/`) || chat.uri === session.head.defaultChat
    this.#known.set(uri, isNamed ? '' : chat.uri)
    return core.log.create(uri, 'changeset', { status: 'computing', files: [] })
  }

  /** What a changeset is about. Undefined if there is no such session, chat or turn, or if its files are on another machine. */
  async subject(uri: Uri): Promise<Subject | undefined> {
    const core = this.#core()
    const name = parseChangesetUri(uri)
    if (!name) return undefined
    const { owner, scope } = name
    const entry = catalogOf(core).get(owner)
    const turns = turnsOf(scope)
    const needsChat = !entry || turns.length > 0
    const listed = entry?.chats?.map(({ resource }) => resource) ?? []
    const chats = entry ? [this.#known.get(uri), primaryChat(entry), ...listed] : [owner]
    const chat = needsChat ? await this.#chatWith(turns, chats) : undefined
    const sessionUri = entry ? owner : catalogOf(core).sessionOf(owner)
    const session = sessionUri === undefined ? undefined : await wakeIfSound(core, sessionUri)
    if (!session?.is('session') || machinesOf(core).problem(session.uri) !== undefined) return undefined
    if (!needsChat) return named(session, undefined, scope)
    return chat && turns.length > 0 ? named(session, chat, scope) : undefined
  }

  /** The first of these chats that has all of these turns. */
  async #chatWith(
    turns: readonly string[],
    chats: readonly (Uri | undefined)[],
  ): Promise<Channel<'chat'> | undefined> {
    for (const uri of new Set(chats)) {
      const chat = uri ? await wakeIfSound(this.#core(), uri) : undefined
      if (chat?.is('chat') && turns.every((id) => chat.has(id) || chat.head.activeTurn?.id === id))
        return chat
    }
    return undefined
  }

  /** Whether a changeset says that it is up to date although nobody has followed its files. */
  isStale({ uri, head }: Channel<'changeset'>): boolean {
    const { jobs, readOnlyReason } = this.#core()
    return (
      (head.status === 'ready' || head.status === 'error') && !jobs.has(uri) && readOnlyReason() === undefined
    )
  }

  /** Says that a stale changeset is computed again, before its first subscriber gets a snapshot. */
  async markStale(channel: Channel<'changeset'>): Promise<void> {
    const { log } = this.#core()
    if (!this.isStale(channel)) return
    log.append(channel, { type: 'changeset/statusChanged', status: 'recomputing' })
    await log.reached(log.last)
  }

  /** Begins to compute a changeset and to follow its files, when its channel has got a subscriber. */
  subscribed(channel: Channel<'changeset'>): void {
    const core = this.#core()
    if (core.jobs.has(channel.uri) || core.readOnlyReason() !== undefined) return
    void this.#begin(channel, true).catch((error: unknown) => core.world.report('a changeset failed', error))
  }

  /**
   * Computes the changesets of a session again that have subscribers. Call it when a turn or an operation may have
   * changed them.
   */
  async refresh(session: Uri | undefined): Promise<void> {
    const core = this.#core()
    const jobs = this.#known.keys().flatMap((uri) => {
      const job = sessionNamed(core, uri) === session ? core.jobs.job(uri) : undefined
      return job instanceof ChangesetJob ? [job] : []
    })
    await Promise.all(jobs.map((job) => job.refresh()))
  }

  /** Computes a changeset that has no subscribers. A changeset with subscribers is always kept up to date. */
  async computeOnce(uri: Uri): Promise<void> {
    const core = this.#core()
    const channel = core.jobs.has(uri) ? undefined : await wakeIfSound(core, uri)
    if (!channel?.is('changeset') || core.readOnlyReason() !== undefined) return
    const job = await this.#begin(channel, false)
    if (!job || core.jobs.job(uri) !== job) return
    core.jobs.stop(uri)
    // Somebody may have subscribed in the meantime, and wants to see further changes.
    if (channel.listeners.size > 0) this.subscribed(channel)
  }

  /**
   * Drops the changesets of a session or chat, in the transaction that drops the session or chat. With `isGone`,
   * drops only those of removed turns.
   */
  forget(owner: Uri, isGone: (scope: ChangesetScope) => boolean = () => true): void {
    const core = this.#core()
    for (const uri of this.#known.keys()) {
      const name = parseChangesetUri(uri)
      if (!name || !isGone(name.scope) || !this.#isOf(uri, name, owner)) continue
      this.#known.delete(uri)
      core.jobs.stop(uri)
      const channel = core.log.channel(uri, 'changeset')
      if (channel && channel.head.files.length > 0) core.log.append(channel, { type: 'changeset/cleared' })
      core.log.drop(channel ?? unloaded(uri, 'changeset'))
    }
  }

  /**
   * Whether a changeset is dropped together with a session or chat. A changeset of turns whose URI names a session is
   * also dropped with the chat that the turns belong to.
   */
  #isOf(uri: Uri, name: ChangesetName, owner: Uri): boolean {
    if (name.owner === owner) return true
    if (turnsOf(name.scope).length === 0) return false
    return (this.#known.get(uri) || catalogOf(this.#core()).get(name.owner)?.defaultChat) === owner
  }

  /**
   * Computes a changeset. If it is followed, it is also computed whenever its files change, as long as it has
   * subscribers. Resolves after the first computation; with undefined if none was begun.
   */
  async #begin(channel: Channel<'changeset'>, isFollowed: boolean): Promise<ChangesetJob | undefined> {
    const core = this.#core()
    const subject = await this.subject(channel.uri)
    if (core.jobs.has(channel.uri) || core.jobs.stopping || !subject) return undefined
    if (isFollowed && channel.listeners.size === 0) return undefined
    const { chat, session } = subject
    const directories = pathsIn(chat?.head.workingDirectories ?? session.head.workingDirectories)
    const { kind } = subject.scope
    const repositories = kind === 'uncommitted' || kind === 'branch' ? directories : []
    const followed = isFollowed ? { directories, repositories } : { directories: [], repositories: [] }
    const job = new ChangesetJob(core, channel, followed, async () => {
      const now = (await this.subject(channel.uri)) ?? subject
      return this.#reviews.shown(now, channel.head.files, () => this.#computation.of(now))
    })
    core.jobs.begin(channel.uri, job)
    await job.refresh()
    return job
  }
}

function named(
  session: Channel<'session'>,
  chat: Channel<'chat'> | undefined,
  scope: ChangesetScope,
): Subject {
  return chat ? { session, chat, scope } : { session, scope }
}

export function turnsOf(scope: ChangesetScope): readonly string[] {
  if (scope.kind === 'turn') return [scope.turnId]
  return scope.kind === 'compare-turns' ? [scope.originalTurnId, scope.modifiedTurnId] : []
}

/** The session of a changeset: its owner, or the session of the chat that is its owner. */
function sessionNamed(core: Core, uri: Uri): Uri | undefined {
  const owner = parseChangesetUri(uri)?.owner
  if (owner === undefined) return undefined
  return catalogOf(core).get(owner) ? owner : catalogOf(core).sessionOf(owner)
}
