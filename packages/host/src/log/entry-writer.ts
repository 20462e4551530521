import type { Action } from '@atrium/protocol/channel'
import type { RowChange } from '../ports/log.ts'
import type { World } from '../ports/world.ts'
import type { Channel } from './channel.ts'
import type { DeliveryQueue } from './delivery-queue.ts'
import { creation, entryIn, removal } from './entry.ts'
import type { Entry, EntryContent, Listener } from './entry.ts'
import type { GroupCommit } from './group-commit.ts'
import type { Sender, StagedPart } from './options.ts'
import type { Sequence } from './sequence.ts'

interface WriterParts {
  readonly commit: GroupCommit
  readonly queue: DeliveryQueue
  readonly sequence: Sequence
  readonly world: World
  /** A head is written after this number of stored actions. */
  readonly headEvery: number
  /** Called at the end of each step, when the store has been given the step. */
  readonly stepEnded: () => void
}

/** The write path of the log: numbers an entry, gives it to the store and queues it for delivery. */
export class EntryWriter {
  readonly #commit: GroupCommit
  readonly #queue: DeliveryQueue
  readonly #sequence: Sequence
  readonly #world: World
  readonly #headEvery: number
  readonly #stepEnded: () => void
  #scheduled = false

  constructor({ commit, queue, sequence, world, headEvery, stepEnded }: WriterParts) {
    this.#commit = commit
    this.#queue = queue
    this.#sequence = sequence
    this.#world = world
    this.#headEvery = headEvery
    this.#stepEnded = stepEnded
  }

  /** Writes the creation of a channel whose head is its first state. */
  create(channel: Channel): void {
    const seq = this.#nextSeq(true)
    this.#storeCreation(channel, seq)
    this.#enqueue(channel, true, { seq, last: seq, action: creation, text: '' })
  }

  /** Writes part of a staged channel without notifying anyone. Returns its sequence number. */
  stage(channel: Channel, { created, action, rows = [], head }: StagedPart): number {
    const { uri } = channel
    const seq = this.#nextSeq(true)
    if (created) this.#storeCreation(channel, seq)
    if (action !== undefined) this.#commit.envelope({ seq, channel: uri, action })
    this.#commit.rows(rows)
    if (head !== undefined) this.#commit.head({ channel: uri, seq, state: head })
    this.#enqueue(channel, true, { seq, last: seq, action: creation, text: '' })
    return seq
  }

  /** Writes the removal of a channel. Returns its sequence number. */
  drop(channel: Channel): number {
    const seq = this.#nextSeq(true)
    this.#commit.drop(channel.uri, seq)
    this.#enqueue(channel, true, { seq, last: seq, action: removal, text: '' })
    return seq
  }

  /** Writes an action that the head of the channel already contains. */
  write(channel: Channel, action: Action, sender?: Sender): Entry {
    const kept = channel.kind.classes.get(action.type) ?? 'strict'
    const strict = kept === 'strict'
    const text = JSON.stringify(action)
    const by = sender?.by
    const seq = this.#nextSeq(strict, channel.strideOf(action))
    const origin = by && { clientId: by.clientId, clientSeq: by.clientSeq }
    const content = { seq, last: this.#sequence.last, action, text, origin }
    const entry = this.#enqueue(channel, strict, content, sender?.listener)
    if (kept === 'ephemeral') channel.keepEphemeral(entry)
    else {
      const stored = { seq, channel: channel.uri, action: text }
      this.#commit.envelope(by ? { ...stored, origin: by } : stored)
      channel.writes.actionStored(text.length, this.#commit.nextWrite)
    }
    return entry
  }

  /** Stores the row changes of the actions written last, and a head where one is due. */
  writeRows(channel: Channel, rows: readonly RowChange[]): void {
    this.#commit.rows(rows)
    channel.writes.rowsStored(rows.length)
    // A removed row could be needed to fold the actions after an older head, so a new head goes with its removal.
    if (channel.writes.headDue(this.#headEvery) || rows.some((row) => row.text === undefined))
      this.writeHead(channel)
  }

  /** Stores the head as the state after every number assigned so far. */
  writeHead(channel: Channel): void {
    this.#commit.head({ channel: channel.uri, seq: this.#sequence.last, state: channel.headText() })
    channel.writes.headStored(this.#commit.nextWrite)
  }

  /** Queues an action for one listener: numbered, neither reduced nor stored. */
  sendOnly(
    channel: Channel,
    action: Action,
    only: Listener,
    { by, reason }: { by?: Sender['by']; reason?: string } = {},
  ): Entry {
    // On a full disk the refusals go before the entries that wait for space.
    const overtaking = by && this.#commit.full ? this.#queue.overtakingSeq(by.clientId) : undefined
    const seq = overtaking ?? this.#sequence.next()
    const origin = by && { clientId: by.clientId, clientSeq: by.clientSeq }
    const text = JSON.stringify(action)
    return this.#enqueue(channel, false, { seq, last: seq, action, text, origin, only, reason })
  }

  /** Ends the present step once its synchronous code has run: the store is given the step as one. */
  scheduleStepEnd(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    this.#world.soon(() => this.endStep())
  }

  endStep(): void {
    this.#scheduled = false
    this.#commit.endStep(this.#sequence.last)
    this.#stepEnded()
  }

  #storeCreation({ uri, kind, head }: Channel, seq: number): void {
    this.#commit.create({ seq, channel: uri, kind: kind.name, state: JSON.stringify(head) })
  }

  /** Returns the first of `count` numbers. Numbers are reserved for refusals below the first strict entry that waits. */
  #nextSeq(strict: boolean, count = 1): number {
    if (strict && !this.#queue.blocked) this.#sequence.reserve()
    return this.#sequence.next(count)
  }

  #enqueue(channel: Channel, strict: boolean, content: EntryContent, sender?: Listener): Entry {
    const entry = entryIn(channel, content)
    const { head, olderRows } = channel
    this.#queue.add({ entry, channel, state: head, olderRows, strict, sender })
    this.scheduleStepEnd()
    return entry
  }
}
