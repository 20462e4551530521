import { catalogOf } from '../../catalog/catalog.ts'
import type { Action, Uri } from '@atrium/protocol/channel'
import { wakeIfSound } from '../../channels/wake.ts'
import type { Core } from '../../kernel/core.ts'
import { sessionOf } from '../../catalog/lookup.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import { attributed } from './attribution.ts'
import { bytesOf } from './capture-budget.ts'
import { CapturedTurn } from './captured-turn.ts'
import { directoriesOf } from './directories.ts'
import { callsChange, runningCalls } from './running/running-calls.ts'
import type { RunningTurns } from './running/running-turns.ts'
import { SessionStarts } from './session-starts.ts'
import type { Taking } from './taking.ts'
import type { TurnFolder, TurnRecord } from './turn-record.ts'
import type { TurnRecords } from './turn-records.ts'
import { updateWaiting } from './waiting/waiting-turns.ts'

/** The captures of all turns: taken at the beginning and at the end of each turn, recorded by chat and turn. */
export abstract class TurnCaptures {
  readonly #core: () => Core
  readonly #taking: Taking
  readonly #records: TurnRecords
  readonly #sessions: SessionStarts
  readonly #running: RunningTurns
  /** The end captures that are being taken, by chat. The next turn of the chat waits for them. */
  readonly #ending = new Map<Uri, Promise<void>>()

  /** Whether `collectSoon` has scheduled a deletion of contents. */
  #isDue = false

  constructor(core: () => Core, taking: Taking, records: TurnRecords, running: RunningTurns) {
    this.#core = core
    this.#taking = taking
    this.#records = records
    this.#sessions = new SessionStarts(core, records)
    this.#running = running
  }

  /** Called when a turn has got its end capture. */
  protected abstract turnEnded(chat: Uri): void
  /** Called when turns of a chat were removed. */
  protected abstract turnsRemoved(chat: Uri, exists: (turnId: string) => boolean): void
  /** Runs a task when no operation changes files. */
  protected abstract whenIdle<T>(task: () => Promise<T>): Promise<T>

  async begin(chat: Channel<'chat'>, turnId: string): Promise<string | undefined> {
    const directories = directoriesOf(this.#core(), chat)
    const early = this.#running.takeEarly(chat.uri, turnId, directories)
    if (directories.length === 0) return undefined
    const turn = early ?? (await this.#enter(chat, turnId, directories))
    if (!turn) return undefined
    await turn.looked
    const isFirst = await this.#sessions.begin(chat.uri, turn.record)
    // The agent may change files only when the record with the start capture is durable. If the record is as `expect`
    // has stored it, it is durable already: it was stored in the transaction that started the turn.
    if (isFirst || !turn.isAsExpected) await this.#core().log.settled()
    return turn.problem
  }

  /**
   * Begins the start capture while the transaction that starts the turn is written. This transaction also stores a
   * preliminary record: it assumes that no file has changed since the last capture. If that is true, the agent need
   * not wait until another record is durable.
   */
  #beginEarly(chat: Channel<'chat'>, turnId: string): void {
    // The directories of a session may still change while the session is created.
    if (sessionOf(this.#core(), chat.uri)?.head.lifecycle !== 'ready') return
    const directories = directoriesOf(this.#core(), chat)
    if (directories.length === 0 || this.#ending.has(chat.uri)) return
    const turn = this.#newTurn(chat, turnId, directories)
    turn.expect((directory) => this.#taking.latest(directory))
    this.#running.enter(chat.uri, turn, { early: true })
    // `begin` awaits the same promise, and sees its failure.
    turn.begin(undefined).catch(() => {})
  }

  /** Begins the captures of a turn after the end captures of its chat. Undefined: the turn has ended meanwhile. */
  async #enter(
    chat: Channel<'chat'>,
    turnId: string,
    directories: readonly string[],
  ): Promise<CapturedTurn | undefined> {
    let earlier: TurnRecord | undefined
    do {
      await this.#ending.get(chat.uri)
      // If the turn was entered early, but with other directories, it leaves. Its record must be stored before the
      // record of the new turn, which replaces it.
      await this.#running.leave(chat.uri)?.looked
      earlier = await this.#records.get(chat.uri, turnId)
    } while (this.#ending.has(chat.uri))
    // The record of a turn that has ended names its end capture, and must stay as it is.
    if (chat.head.activeTurn?.id !== turnId) return undefined
    const turn = this.#newTurn(chat, turnId, directories)
    this.#running.enter(chat.uri, turn)
    await turn.begin(earlier)
    return turn
  }

  #newTurn(chat: Channel<'chat'>, turnId: string, directories: readonly string[]): CapturedTurn {
    const { log } = this.#core()
    return new CapturedTurn(turnId, directories, this.#taking, (record) => {
      // While the files were captured, the turn may have been truncated.
      if (log.channel(chat.uri) !== chat || !hasTurn(chat, turnId)) return
      this.#records.put(chat.uri, turnId, record)
      log.scheduleFlush()
    })
  }

  appended(chat: Channel<'chat'>, action: Action): void {
    const { uri } = chat
    if (action.type === 'chat/turnStarted' && chat.head.activeTurn) {
      // A truncated turn of the chat may have had the same id. Its record must not count for the new turn.
      this.#records.delete(uri, chat.head.activeTurn.id)
      this.#beginEarly(chat, chat.head.activeTurn.id)
    }
    if (action.type === 'chat/truncated') {
      if (!chat.head.activeTurn) this.#running.leave(uri)
      this.#sweepLater(uri)
    }
    if (turnEnds.has(action.type) && 'turnId' in action && typeof action.turnId === 'string')
      this.#ended(chat, action.turnId)
    updateWaiting(this.#core(), this.#running, uri, action)
    const turn = callsChange.has(action.type) ? this.#running.get(uri) : undefined
    if (!turn || turn.turnId !== chat.head.activeTurn?.id) return
    void turn.callsRun(runningCalls(chat))
  }

  completing(chat: Channel<'chat'>, toolCallId: string): Promise<void> | undefined {
    const others = runningCalls(chat).filter(({ id }) => id !== toolCallId)
    return this.#running.get(chat.uri)?.callsRun(others)
  }

  writesOnly(chat: Uri, toolCallId: string, files: readonly Uri[]): void {
    this.#running.get(chat)?.writesOnly(toolCallId, files)
  }

  ready(chat: Uri): Promise<void> | undefined {
    return this.#running.get(chat)?.looked
  }

  terminalUsed(directory: string, holder: Uri | undefined): void {
    this.#running.disturb(directory, holder)
  }

  async copy(from: Uri, to: Uri, turnIds: readonly string[]): Promise<void> {
    // The last turn may have just ended. Without its end capture, the fork could never undo it.
    await this.#ending.get(from)
    await this.#records.copy(from, to, turnIds)
  }

  copyPublished(chat: Channel<'chat'>): void {
    this.#records.publishCopy(chat.uri)
  }

  copyForgotten(chat: Uri): void {
    this.#records.forgetCopy(chat)
  }

  forgotten(owner: Uri): void {
    this.#running.leave(owner)
    this.#sessions.forgotten(owner)
    this.#sweepLater(owner)
  }

  /**
   * Finishes what an earlier run of the host has left undone: takes the end captures that are owed, and deletes the
   * records of chats whose deletion was interrupted.
   */
  recover(): void {
    for (const { chat, turnId } of this.#records.owed) this.#end(chat, turnId)
    for (const chat of this.#records.sweeps) void this.#sweep(chat)
  }

  async settled(): Promise<void> {
    await Promise.all(this.#ending.values())
  }

  stop(): Promise<void> {
    this.#running.stop()
    return this.#taking.stop()
  }

  async collect(): Promise<void> {
    if (!(await this.#taking.collect(() => this.#records.captures()))) this.collectSoon()
  }

  /**
   * Deletes the contents that no record needs, after a delay (`collectMs`). Further calls during the delay cause no
   * further deletion. If captures are being taken when the delay is over, the deletion waits for another delay.
   */
  protected collectSoon(): void {
    const { world, jobs, readOnlyReason } = this.#core()
    if (this.#isDue) return
    this.#isDue = true
    world.later(collectMs, () => {
      this.#isDue = false
      if (jobs.stopping || readOnlyReason() !== undefined) return
      this.collect().catch((error: unknown) => world.report('deleting captures failed', error))
    })
  }

  /**
   * Takes the end capture of a turn. In the transaction that ends the turn, records that the capture is still
   * missing, so that it is taken even after a crash.
   */
  #ended(chat: Channel<'chat'>, turnId: string): void {
    if (!this.#running.has(chat.uri) && directoriesOf(this.#core(), chat).length === 0) return
    this.#records.owe(chat.uri, turnId)
    this.#end(chat.uri, turnId)
  }

  /** Takes the end capture of a turn. The capture comes late if the turn ran in an earlier run of the host. */
  #end(chat: Uri, turnId: string): void {
    const turn = this.#running.get(chat)?.turnId === turnId ? this.#running.end(chat) : undefined
    const before = this.#ending.get(chat)
    const ending = Promise.resolve(before)
      .then(() => this.#taking.hold(() => this.#takeEnd(chat, turnId, turn)))
      .catch((error: unknown) => this.#core().world.report('an end capture failed', error))
      .finally(() => {
        if (turn) this.#running.captured(turn)
        if (this.#ending.get(chat) === ending) this.#ending.delete(chat)
      })
    this.#ending.set(chat, ending)
  }

  async #takeEnd(chat: Uri, turnId: string, turn: CapturedTurn | undefined): Promise<void> {
    const record = turn ? await turn.end() : await this.#late(await this.#records.get(chat, turnId))
    const order = await this.#records.nextOrder()
    // While the capture was taken, the turn may have been truncated, or its chat disposed of.
    if (!this.#records.isOwed(chat, turnId) || this.#core().readOnlyReason() !== undefined) return
    if (record && catalogOf(this.#core()).sessionOf(chat) !== undefined)
      this.#records.putEnded(chat, turnId, { ...record, order })
    this.#records.settle(chat, turnId)
    this.#core().log.scheduleFlush()
    this.turnEnded(chat)
  }

  /**
   * Completes the record of a turn that a crash interrupted. All changes since its last capture count as changes by
   * others, because nobody knows who made them. A record with an order is complete already: the turn was resumed, and
   * ended before its agent began.
   */
  async #late(record: TurnRecord | undefined): Promise<TurnRecord | undefined> {
    if (!record || record.order !== undefined) return record
    let bytes = record.bytes ?? 0
    const folders = record.folders.map(async (folder): Promise<TurnFolder> => {
      const { last, ...kept } = folder
      if (folder.problem !== undefined || folder.end !== undefined) return folder
      const taken = await this.#taking.take(folder.directory, last)
      if ('problem' in taken) return { ...kept, problem: taken.problem }
      bytes += bytesOf(taken.changes)
      const period = { calls: [], others: true, changes: taken.changes }
      return { ...kept, ...attributed(kept, period, this.#taking.mostShared), end: taken.id }
    })
    return { folders: await Promise.all(folders), late: true, bytes }
  }

  #sweepLater(chat: Uri): void {
    this.#records.sweepLater(chat)
    this.#core().world.soon(() => void this.#sweep(chat))
  }

  async #sweep(chat: Uri): Promise<void> {
    const core = this.#core()
    try {
      const gone = (catalogOf(core).sessionOf(chat) ?? catalogOf(core).get(chat)) === undefined
      const channel = gone ? undefined : await wakeIfSound(core, chat)
      if (!gone && !channel?.is('chat')) return
      const exists = (turnId: string) => channel?.is('chat') === true && hasTurn(channel, turnId)
      // An operation needs the record of its turn, and stores it again: it names the files as they were before.
      await this.whenIdle(() => this.#records.sweep(chat, exists))
      if (gone) this.collectSoon()
      else this.turnsRemoved(chat, exists)
      core.log.scheduleFlush()
    } catch (error) {
      core.world.report('deleting the records of turns failed', error)
    }
  }
}

function hasTurn(chat: Channel<'chat'>, turnId: string): boolean {
  return chat.has(turnId) || chat.head.activeTurn?.id === turnId
}

/** The delay of `collectSoon` in milliseconds. */
const collectMs = 60_000

const turnEnds = new Set(['chat/turnComplete', 'chat/turnCancelled', 'chat/error'])
