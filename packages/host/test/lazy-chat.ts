import { memoryStore } from '@atrium/adapters/store/memory'
import type { Action } from '@atrium/protocol/channel'
import { kinds } from '@atrium/protocol/channels'
import type { ChatState } from '@atrium/protocol/chat/state'
import { limits } from '@atrium/protocol/limits'
import type { LimitValues } from '@atrium/protocol/limits'
import { Activity } from '@atrium/protocol/status'
import { StepRecords } from '../src/kernel/log/step-records.ts'
import type { Channel } from '../src/kernel/log/channel.ts'
import type { Core } from '../src/kernel/core.ts'
import { catalogOf } from '../src/catalog/catalog.ts'
import { ChatIndex } from '../src/catalog/chat-index.ts'
import { Log } from '../src/kernel/log/log.ts'
import type { LogStore } from '../src/ports/log.ts'
import { testWorld } from './world.ts'

export const chatUri = 'ahp-chat:/1'
const startedAt = '2026-01-01T00:00:00Z'
const message = { text: 'go', origin: { kind: 'user' } }
const firstState: ChatState = {
  resource: chatUri,
  title: '',
  status: Activity.Idle,
  modifiedAt: startedAt,
  turns: [],
}
const reduce = kinds.chat.reduce as (state: ChatState, action: Action) => ChatState

/** The actions of a turn from its start to its end. */
export function turn(
  turnId: string,
  words: string,
  end: 'complete' | 'fail' = 'complete',
): readonly Action[] {
  const error = { kind: 'error', error: { errorType: 'x', message: 'm' }, resumable: true }
  const actions = [
    { type: 'chat/turnStarted', turnId, startedAt, message },
    { type: 'chat/responsePart', turnId, part: { kind: 'markdown', id: 'p', content: words } },
    end === 'complete'
      ? { type: 'chat/turnComplete', turnId, duration: 5 }
      : { type: 'chat/error', turnId, duration: 1, part: error },
  ]
  return actions as unknown as readonly Action[]
}

/**
 * A chat whose older turns are only on a disk. The test controls the disk's reads and flushes. The fold of all actions is
 * kept for comparison.
 */
export class LazyChat {
  readonly #options: { readonly tail: number; readonly headEvery: number }
  readonly #flushes: (() => void)[] = []
  readonly #reads: (() => void)[] = []
  readonly world = testWorld()
  #disk = memoryStore({
    soon: (task) => (this.holding ? void this.#flushes.push(task) : queueMicrotask(task)),
  })
  #epoch = 0
  #fold: { seq: number; state: ChatState }[] = []
  holding = false
  log!: Log
  channel!: Channel<'chat'>

  constructor(options: { readonly tail: number; readonly headEvery: number }) {
    this.#options = options
  }

  get store(): LogStore {
    return this.#disk.log
  }

  /** The state with all turns after every appended action. */
  get head(): ChatState {
    return this.at(Infinity)
  }

  /** The state with all turns after the actions up to a sequence number. */
  at(seq: number): ChatState {
    return this.#fold.findLast((folded) => folded.seq <= seq)?.state as ChatState
  }

  async begin(): Promise<this> {
    await this.#start()
    this.channel = this.log.create(chatUri, 'chat', firstState)
    this.#fold = [{ seq: 0, state: firstState }]
    await this.log.settled()
    return this
  }

  append(actions: readonly Action[]): void {
    for (const action of actions) {
      const { seq } = this.log.appendChecked(this.channel, action)
      this.#fold.push({ seq, state: reduce(this.head, action) })
    }
  }

  /** Lets the disk answer the waiting reads. */
  async answer(): Promise<void> {
    for (const task of this.#reads.splice(0)) task()
    await stepOver()
  }

  async flush(): Promise<void> {
    for (const task of this.#flushes.splice(0)) task()
    await stepOver()
  }

  /** Completes reads and flushes until a promise is settled. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let done = false
    void promise.finally(() => (done = true)).catch(() => {})
    while (!done) {
      await this.answer()
      await this.flush()
    }
    return promise
  }

  /** Puts the chat to sleep and wakes it. */
  async sleepAndWake(): Promise<void> {
    await this.until(this.log.settled())
    if (!this.log.sleep(this.channel)) throw new Error('the chat cannot sleep')
    await this.until(this.log.settled())
    await this.wake()
  }

  /** Simulates a crash and a new start: everything that was not flushed is lost. */
  async crash(): Promise<void> {
    this.#flushes.length = 0
    this.#reads.length = 0
    this.#disk = this.#disk.reopen()
    await this.#start()
    const { envelopes } = await this.store.read([chatUri], 0, Number.MAX_SAFE_INTEGER)
    this.#fold = [{ seq: 0, state: firstState }]
    for (const { seq, action } of envelopes)
      this.#fold.push({ seq, state: reduce(this.head, JSON.parse(action) as Action) })
    await this.wake()
  }

  async wake(): Promise<void> {
    const woken = await this.until(this.log.wake(chatUri))
    if (!woken?.is('chat')) throw new Error('the chat does not exist')
    this.channel = woken
  }

  /** The members of a `Core` that the tests of rows and history use. */
  core(over: Partial<LimitValues> = {}): Core {
    const members = {
      log: this.log,
      store: { log: this.#slowStore },
      limits: { ...limits, ...over },
      world: this.world,
    }
    const catalog = { get: () => undefined, sessionOf: () => undefined, chatIndex: new ChatIndex() }
    const parts = { get: (key: unknown) => (key === catalogOf ? catalog : undefined) }
    return { ...members, parts } as unknown as Core
  }

  async #start(): Promise<void> {
    const log = new Log(
      this.#slowStore,
      this.world,
      { appended: () => {}, committed: () => {}, fatal: () => {} },
      { records: new StepRecords(this.#disk.records), first: ++this.#epoch * 10_000_000, ...this.#options },
    )
    this.log = log
    await this.until(log.begin())
  }

  /** The store that the host is given. Its reads of rows wait for the test. */
  get #slowStore(): LogStore {
    return {
      ...this.store,
      load: (...asked) => this.store.load(...asked),
      rows: (...asked) =>
        new Promise((resolve) => this.#reads.push(() => resolve(this.store.rows(...asked)))),
    }
  }
}

/** A chat with seven turns, `t0` to `t6`. Only the newest two are in memory. */
export async function lazyChat(words = (i: number) => `word ${i}`): Promise<LazyChat> {
  const chat = await new LazyChat({ tail: 2, headEvery: 1000 }).begin()
  for (let i = 0; i < 7; i++) chat.append(turn(`t${i}`, words(i)))
  await chat.sleepAndWake()
  return chat
}

/** Waits for the end of the present step. */
export const stepOver = () => new Promise<void>((resolve) => setImmediate(resolve))
