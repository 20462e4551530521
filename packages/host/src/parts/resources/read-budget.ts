import type { LimitValues } from '@atrium/protocol/limits'
import { LinkClosed } from '@atrium/protocol/rpc/peer'
import type { World } from '../../ports/world.ts'
import { defineKey } from '../../kernel/key.ts'

/**
 * The requester of a read: a link, or an agent that works for a principal. Only a link has `close` and `drained`,
 * because only a link is sent a response that it may be slow to read.
 */
export interface Reader {
  readonly principal: string
  close?(code: number, reason: string): void
  /** Resolves when the requester has read everything, or when its connection has ended. */
  drained?(): Promise<void>
}

/** A part of the budget. It is held from before the file is opened until the client has read the response. */
export interface Reservation {
  /** Whether the link has ended, so that nobody wants the result any more. */
  readonly unwanted: boolean
  /** Replaces the reserved size by the true size. */
  resize(bytes: number): void
  /** Call it when the response is sent. The reservation ends when the client has read the response. */
  sent(): void
  release(): void
}

/**
 * The bytes of files that are being read, encoded and sent, for each link and for the host (S-23). A read that does not fit
 * waits in line. Links take turns, so that a link with many reads does not delay the read of another link.
 */
export class ReadBudget {
  readonly #world: World
  readonly #limits: LimitValues
  readonly #accounts = new Map<Reader, Account>()
  /** The accounts whose next read fits into the budget of their link. The first one is served next. */
  readonly #line = new Set<Account>()
  #held = 0
  #cancelTimer: (() => void) | undefined

  constructor(world: World, limits: LimitValues) {
    this.#world = world
    this.#limits = limits
  }

  /** The bytes that are held at the moment, of all links. */
  get held(): number {
    return this.#held
  }

  /** The number of requesters that hold bytes or wait. */
  get size(): number {
    return this.#accounts.size
  }

  /** Resolves when the bytes fit into the budget. Rejects if the link ends before that. */
  reserve(reader: Reader, bytes: number): Promise<Reservation> {
    const account = this.#accounts.get(reader) ?? new Account(reader)
    this.#accounts.set(reader, account)
    return new Promise((admit, drop) => {
      account.waiting.push({ bytes, admit, drop })
      this.#enterLine(account)
      this.#admitNext()
    })
  }

  /** Drops the waiting reads of a link that has ended. A read that has begun keeps its bytes until it is over. */
  leave(reader: Reader): void {
    const account = this.#accounts.get(reader)
    if (!account) return
    account.ended = true
    this.#line.delete(account)
    for (const { drop } of account.waiting.splice(0)) drop(new LinkClosed('the connection has ended'))
    this.#forgetIdle(account)
    this.#admitNext()
  }

  #enterLine(account: Account): void {
    const next = account.waiting[0]
    if (next && fits(account.held, next.bytes, this.#limits.readingBytes)) this.#line.add(account)
  }

  #admitNext(): void {
    for (const account of this.#line) {
      const next = account.waiting[0]
      // No smaller read passes a large one that waits for the host's budget: the large one would never fit.
      if (next && !fits(this.#held, next.bytes, this.#limits.readingBytesOfAll)) return this.#watchStalled()
      this.#line.delete(account)
      if (!next) continue
      account.waiting.shift()
      next.admit(this.#reservation(account, next.bytes))
      // The account joins the end of the line, which this loop reaches, too.
      this.#enterLine(account)
    }
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  #reservation(account: Account, reserved: number): Reservation {
    let bytes = 0
    const hold = (size: number) => {
      account.held += size - bytes
      this.#held += size - bytes
      bytes = size
    }
    hold(Math.max(leastBytes, reserved))
    let released = false
    const release = () => {
      if (released) return
      released = true
      hold(0)
      this.#enterLine(account)
      this.#forgetIdle(account)
      this.#admitNext()
    }
    return {
      get unwanted() {
        return account.ended
      },
      resize: (size) => {
        if (released) return
        hold(Math.max(leastBytes, size))
        this.#enterLine(account)
        this.#admitNext()
      },
      sent: () => {
        account.unread++
        const read = account.reader.drained?.() ?? Promise.resolve()
        void read.then(() => {
          account.unread--
          account.stalled = false
          release()
        })
      },
      release,
    }
  }

  /**
   * Closes links that do not read, because others wait for a part of the host's budget. A link is closed if it had an
   * unread response when the check began, and has read none `stalledReadMs` milliseconds later.
   */
  #watchStalled(): void {
    if (this.#cancelTimer) return
    for (const account of this.#accounts.values()) account.stalled = account.unread > 0
    this.#cancelTimer = this.#world.later(this.#limits.stalledReadMs, () => {
      this.#cancelTimer = undefined
      const stalled = [...this.#accounts.values()].filter((account) => account.stalled)
      for (const { reader } of stalled) reader.close?.(1013, 'this client reads too slowly; reconnect')
      this.#admitNext()
    })
  }

  #forgetIdle(account: Account): void {
    if (account.held === 0 && account.waiting.length === 0) this.#accounts.delete(account.reader)
  }
}

/** The reads of one requester. */
class Account {
  readonly reader: Reader
  readonly waiting: Waiting[] = []
  held = 0
  /** The number of responses that are sent and not yet read. */
  unread = 0
  /** Whether a response was unread when the present check (`#watchStalled`) began, and none was read since then. */
  stalled = false
  ended = false

  constructor(reader: Reader) {
    this.reader = reader
  }
}

interface Waiting {
  readonly bytes: number
  readonly admit: (reservation: Reservation) => void
  readonly drop: (error: Error) => void
}

/** The cost of the smallest read: even an empty file has a response. */
const leastBytes = 1024

/**
 * Whether a read fits into a budget of which `held` bytes are in use. A read that is larger than the whole budget
 * fits if nothing is in use.
 */
function fits(held: number, bytes: number, budget: number): boolean {
  return held === 0 || held + bytes <= budget
}

export const readBudgetOf = defineKey<ReadBudget>('read budget')
