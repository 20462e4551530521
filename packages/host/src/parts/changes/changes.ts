import { commitsOf } from '../../catalog/machine.ts'
import { vcsOf } from '../../catalog/machine.ts'
import { catalogOf } from '../../catalog/catalog.ts'
import { sessionFeedOf } from '../../catalog/session-feed.ts'
import type { Action, Uri } from '@atrium/protocol/channel'
import { sessionChangesetUri, turnChangesets } from '@atrium/protocol/changeset/catalogue'
import type { Params, Result } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import { pathOf } from '@atrium/protocol/file-uri'
import type { ChangeTracking } from '../../catalog/change-tracking.ts'
import type { CommitParams, CommitResult, ReviewHunksParams, ReviewHunksResult } from './extensions.ts'
import type { Core } from '../../kernel/core.ts'
import { sessionOf } from '../../catalog/lookup.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import { equal } from '../../kernel/log/equal.ts'
import { CaptureFailed } from '../../ports/captures.ts'
import type { Applied, Captures } from '../../ports/captures.ts'
import type { OtherHosts } from '../../ports/other-hosts.ts'
import { keepBudget } from './capture-budget.ts'
import { ChatCounts } from './chat-counts/chat-counts.ts'
import { sessionCatalogue } from '../../catalog/changeset-uri.ts'
import { Changesets, turnsOf } from './changesets.ts'
import { Computation } from './computation.ts'
import { directoriesOf } from './directories.ts'
import { Operations } from './operations.ts'
import { Reviews } from './review/reviews.ts'
import { sessionsBeside } from '../worktrees/worktrees.ts'
import { RunningTurns } from './running/running-turns.ts'
import { Taking } from './taking.ts'
import { TurnCaptures } from './turn-captures.ts'
import { TurnRecords } from './turn-records.ts'

/** What turns have changed: the captures of turns, and the changesets that clients see. */
export class Changes extends TurnCaptures implements ChangeTracking {
  readonly #core: () => Core
  readonly #captures: Captures
  readonly #taking: Taking
  readonly #records: TurnRecords
  readonly #changesets: Changesets
  readonly #operations: Operations
  readonly #counts: ChatCounts

  private constructor(core: () => Core, parts: Parts) {
    const { captures, taking, records, running, changesets, operations, counts } = parts
    super(core, taking, records, running)
    this.#core = core
    this.#captures = captures
    this.#taking = taking
    this.#records = records
    this.#changesets = changesets
    this.#operations = operations
    this.#counts = counts
  }

  invoke(params: Params<'invokeChangesetOperation'>): Promise<Result<'invokeChangesetOperation'>> {
    return this.#operations.invoke(params)
  }

  commit(params: CommitParams): Promise<CommitResult> {
    return this.#operations.commit(params)
  }

  reviewHunks(params: ReviewHunksParams): Promise<ReviewHunksResult> {
    return this.#operations.reviewHunks(params)
  }

  filesReviewed(channel: Channel<'changeset'>): void {
    const failed = (error: unknown) => this.#core().world.report('marking hunks failed', error)
    this.#operations.filesReviewed(channel).catch(failed)
  }

  static async open(
    { captures, otherHosts }: { readonly captures: Captures; readonly otherHosts?: OtherHosts },
    { world, limits, records }: Pick<Core, 'world' | 'limits' | 'records'>,
    core: () => Core,
  ): Promise<Changes> {
    const damaged = (key: string) => world.report('damaged record of a turn', key)
    const taking = new Taking(captures, { world, limits }, otherHosts)
    const turns = await TurnRecords.open(records, damaged)
    const computation = new Computation(core, captures, taking, turns)
    const reviews = new Reviews(core, { captures, taking, records: turns })
    const changesets = await Changesets.open({ core, computation, reviews }, records)
    const running = new RunningTurns(otherHosts)
    const counts = new ChatCounts(core, captures, taking, turns)
    const shared = { core, captures, taking, records: turns, running, changesets, counts }
    const operations = new Operations({ ...shared, computation, reviews })
    return new Changes(core, { ...shared, operations })
  }

  override appended(chat: Channel<'chat'>, action: Action): void {
    super.appended(chat, action)
    if (action.type === 'chat/turnStarted' && !chat.head.changesets) this.#offerTurns(chat)
    if (action.type === 'chat/turnStarted' || action.type === 'chat/truncated')
      this.#activityChanged(chat.uri)
  }

  override copyPublished(chat: Channel<'chat'>): void {
    super.copyPublished(chat)
    this.#offerTurns(chat)
  }

  async finishEdits(): Promise<void> {
    const { world } = this.#core()
    const commits = commitsOf(this.#core())
    const edits = this.#captures.recover().then((applied) => this.#recovered(applied))
    for (const each of await Promise.allSettled([edits, commits?.recover()]))
      if (each.status === 'rejected') world.report('finishing interrupted edits failed', each.reason)
  }

  /**
   * Reports the files that the host has left as they are. After a crash the host finishes the edits that the crash
   * interrupted, but not in files that somebody has changed since. The changesets show these files as conflicts.
   */
  #recovered(applied: readonly Applied[]): void {
    for (const { directory, left } of applied)
      if (left.length > 0)
        this.#core().world.report('files left by interrupted edits', `${left.length} in ${directory}`)
  }

  override forgotten(owner: Uri): void {
    this.#changesets.forget(owner)
    super.forgotten(owner)
  }

  create(uri: Uri): Promise<Channel | undefined> {
    return this.#changesets.create(uri)
  }

  isChangeset(uri: Uri): boolean {
    return this.#changesets.has(uri)
  }

  isStale(channel: Channel): boolean {
    return channel.is('changeset') && this.#changesets.isStale(channel)
  }

  async markStale(channel: Channel): Promise<void> {
    if (channel.is('changeset')) await this.#changesets.markStale(channel)
  }

  subscribed(channel: Channel): void {
    if (channel.is('changeset')) this.#changesets.subscribed(channel)
  }

  async read(content: string): Promise<Uint8Array | undefined> {
    return this.#captures.read(content).catch((error: unknown) => {
      if (error instanceof CaptureFailed) throw AhpError.notFound(error.message)
      throw error
    })
  }

  async offer(session: Channel<'session'>): Promise<void> {
    const core = this.#core()
    const [first] = session.head.workingDirectories ?? []
    const named = first === undefined ? undefined : pathOf(first)
    if (!named?.ok) return
    const root = await vcsOf(core)
      ?.root(named.path)
      .catch(() => undefined)
    if (core.log.channel(session.uri) !== session || core.readOnlyReason() !== undefined) return
    const changesets = sessionCatalogue(session.uri, root === undefined ? undefined : branchOf(session))
    if (!equal(session.head.changesets, changesets))
      core.log.append(session, { type: 'session/changesetsChanged', changesets })
  }

  async idle(): Promise<void> {
    await Promise.all([this.settled(), this.#operations.settled()])
  }

  protected override turnEnded(chat: Uri): void {
    this.#turnChanged(chat).catch(this.#updateFailed)
    this.#keepBudget().catch((error: unknown) => this.#core().world.report('deleting captures failed', error))
  }

  protected override whenIdle<T>(task: () => Promise<T>): Promise<T> {
    return this.#operations.whenIdle(task)
  }

  protected override turnsRemoved(chat: Uri, exists: (turnId: string) => boolean): void {
    this.#changesets.forget(chat, (scope) => !turnsOf(scope).every(exists))
  }

  readonly #updateFailed = (error: unknown) => this.#core().world.report('updating changesets failed', error)

  /** Shows at once that a worktree cannot be applied while a turn is active in a session that works in it. */
  #activityChanged(chat: Uri): void {
    const core = this.#core()
    const session = catalogOf(core).sessionOf(chat)
    for (const each of session === undefined ? [] : sessionsBeside(core, session))
      core.world.soon(() => void this.#changesets.refresh(each).catch(this.#updateFailed))
  }

  /**
   * Deletes the captures that exceed the budget. Waits until no operation runs, because an operation needs the
   * captures of its turn.
   */
  async #keepBudget(): Promise<void> {
    const keep = () => this.#taking.hold(() => keepBudget(this.#core(), this.#records))
    const sessions = await this.#operations.whenIdle(keep)
    if (sessions.size > 0) this.collectSoon()
    for (const session of sessions) await this.#changesets.refresh(session)
  }

  #offerTurns(chat: Channel<'chat'>): void {
    const core = this.#core()
    if (directoriesOf(core, chat).length === 0) return
    core.log.append(chat, { type: 'chat/changesetsChanged', changesets: turnChangesets(chat.uri) })
  }

  /** Updates what clients see of a chat's changes. */
  async #turnChanged(chat: Uri): Promise<void> {
    const core = this.#core()
    const session = sessionOf(core, chat)
    if (session && !core.jobs.stopping) await this.offer(session)
    await this.#counts.turnEnded(chat)
    await this.#changesets.refresh(catalogOf(core).sessionOf(chat))
    for (const other of session ? sessionsBeside(core, session.uri) : [])
      if (other !== session?.uri) await this.#changesets.refresh(other)
    // A client that speaks AHP 0.1 is told which files a session has changed, even if it is not subscribed to the
    // session.
    if (session && sessionFeedOf(core).followers.size > 0)
      await this.#changesets.computeOnce(sessionChangesetUri(session.uri))
  }
}

interface Parts {
  readonly captures: Captures
  readonly taking: Taking
  readonly records: TurnRecords
  readonly running: RunningTurns
  readonly changesets: Changesets
  readonly operations: Operations
  readonly counts: ChatCounts
}

/** The branch of a session's repository. Empty if it is not known. */
function branchOf({ head }: Channel<'session'>): string {
  const { git } = head._meta ?? {}
  const known = typeof git === 'object' && git !== null && 'branchName' in git ? git.branchName : ''
  return typeof known === 'string' ? known : ''
}
