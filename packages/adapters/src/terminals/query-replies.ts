import type { Emulator, ScreenUpdate, Size } from './emulator.ts'

export interface QueryLimits {
  /** The maximum number of characters of output that are kept. */
  readonly screenLength: number
  /** The maximum number of queries that wait for an answer. */
  readonly queries: number
}

/**
 * The replies to the queries of one terminal's program. Output is kept, and emulated only when a query arrives, so that
 * programs without queries cost nothing. The oldest output over the limit is dropped: no screen is large enough to show
 * it.
 */
export class QueryReplies {
  readonly #emulator: Emulator
  readonly #limits: QueryLimits
  readonly #reply: (text: string) => void
  readonly #id: number
  /** The size before the first update. */
  #size: Size
  #updates: ScreenUpdate[] = []
  #length = 0
  #queries = 0
  #emulating = false
  #closed = false

  constructor(emulator: Emulator, size: Size, limits: QueryLimits, reply: (text: string) => void) {
    this.#emulator = emulator
    this.#size = size
    this.#limits = limits
    this.#reply = reply
    this.#id = emulator.newId()
  }

  output(text: string): void {
    this.#updates.push(text)
    this.#length += text.length
    while (this.#length > this.#limits.screenLength) this.#dropOldest()
  }

  resize(cols: number, rows: number): void {
    if (typeof this.#updates.at(-1) === 'object') this.#updates.pop()
    else this.#length++
    this.#updates.push({ cols, rows })
  }

  /** Answers a query. If too many queries wait for an answer, the query is ignored. */
  query(sequence: string): void {
    if (this.#closed || this.#queries >= this.#limits.queries) return
    this.#queries++
    this.output(sequence)
    this.#emulate()
  }

  close(): void {
    this.#closed = true
    this.#updates = []
    this.#emulator.forget(this.#id)
  }

  #dropOldest(): void {
    const update = this.#updates.shift()
    if (typeof update === 'object') this.#size = update
    this.#length -= typeof update === 'string' ? update.length : 1
  }

  #emulate(): void {
    if (this.#emulating || this.#queries === 0) return
    this.#emulating = true
    const updates = joined(this.#updates)
    const size = this.#size
    for (const update of updates) if (typeof update === 'object') this.#size = update
    this.#updates = []
    this.#length = this.#queries = 0
    this.#emulator.emulate({ id: this.#id, size, updates }, (reply) => {
      this.#emulating = false
      if (this.#closed) return
      if (reply) this.#reply(reply)
      this.#emulate()
    })
  }
}

/**
 * Joins successive texts, so that the emulator, which yields to the event loop after each text, yields less often.
 */
function joined(updates: readonly ScreenUpdate[]): readonly ScreenUpdate[] {
  const all: ScreenUpdate[] = []
  let text: string[] = []
  const flush = () => {
    if (text.length > 0) all.push(text.join(''))
    text = []
  }
  for (const update of updates)
    if (typeof update === 'string') text.push(update)
    else {
      flush()
      all.push(update)
    }
  flush()
  return all
}
