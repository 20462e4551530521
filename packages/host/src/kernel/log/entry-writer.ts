import type { Action } from '@atrium/protocol/channel'
import type { RowChange } from '../../ports/log.ts'
import type { World } from '../../ports/world.ts'
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
  /** A channel's state is stored, as its new head, after this number of stored actions. */
  readonly headEvery: number
  /** Called at the end of each step (a run of synchronous code), after its writes were given to the store. */
  readonly stepEnded: () => void
}

/** The write path of the log. It numbers an entry, gives the entry to the store, and queues it for delivery. */
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

  /** Writes a part of a channel that nobody can find yet, and notifies nobody. Returns the part's sequence number. */
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

  /** Writes the removal of a channel. Returns the sequence number of the removal. */
  drop(channel: Channel): number {
    const seq = this.#nextSeq(true)
    this.#commit.drop(channel.uri, seq)
    this.#enqueue(channel, true, { seq, last: seq, action: removal, text: '' })
    return seq
  }

  /** Writes an action. The channel's head must already contain the action. */
  write(channel: Channel, action: Action, sender?: Sender): Entry {
    const kept = channel.kind.classes.get(action.type) ?? 'strict'
    const strict = kept === 'strict'
    const text = JSON.stringify(action)
    const by = sender?.by
    const seq = this.#nextSeq(strict, channel.strideOf(action))
    const origin = by && { clientId: by.clientId, clientSeq: by.clientSeq }
    const content = { seq, last: this.#sequence.last, action, text, origin, sent: sender?.sent }
    const entry = this.#enqueue(channel, strict, content, sender?.listener)
    if (kept === 'ephemeral') channel.keepEphemeral(entry)
    else {
      const stored = { seq, channel: channel.uri, action: text }
      this.#commit.envelope(by ? { ...stored, origin: by } : stored)
      channel.writes.actionStored(text.length, this.#commit.nextWrite)
    }
    return entry
  }

  /** Stores the row changes of the last written actions, and a head if one is due. */
  writeRows(channel: Channel, rows: readonly RowChange[]): void {
    this.#commit.rows(rows)
    channel.writes.rowsStored(rows.length)
    // When the channel is loaded, the actions after its stored head are reduced again. They may need a row that is
    // removed now. So a new head is stored together with the removal.
    if (channel.writes.headDue(this.#headEvery) || rows.some((row) => row.text === undefined))
      this.writeHead(channel)
  }

  /** Stores the head. It counts as the state after every sequence number that was assigned so far. */
  writeHead(channel: Channel): void {
    const seq = this.#sequence.last
    this.#commit.head({ channel: channel.uri, seq, state: channel.headText() })
    channel.writes.headStored(this.#commit.nextWrite, seq)
  }

  /** Queues an action for a single listener. The action gets a number, but is neither reduced nor stored. */
  sendOnly(
    channel: Channel,
    action: Action,
    only: Listener,
    {
      by,
      reason,
      inOrder,
      sent,
    }: Partial<Omit<Sender, 'listener'>> & { reason?: string; inOrder?: boolean } = {},
  ): Entry {
    // On a full disk, refusals are delivered before the entries that wait for space.
    const overtaking =
      by && !inOrder && this.#commit.full ? this.#queue.overtakingSeq(by.clientId) : undefined
    const seq = overtaking ?? this.#sequence.next()
    const origin = by && { clientId: by.clientId, clientSeq: by.clientSeq }
    const text = JSON.stringify(action)
    return this.#enqueue(channel, false, { seq, last: seq, action, text, origin, only, reason, sent })
  }

  /** Schedules the end of the present step: after its synchronous code has run, the step is given to the store as one unit. */
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

  /**
   * Assigns `count` sequence numbers and returns the first. If the entry is strict, and thus waits for the disk,
   * numbers before it are left free for refusals. None are left free if another strict entry waits already.
   */
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
