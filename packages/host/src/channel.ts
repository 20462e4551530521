import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChannelKind } from '@atrium/protocol/kind'
import { limits } from '@atrium/protocol/limits'
import type { Entry, Listener } from './entry.ts'
import type { RowChange } from './ports/log.ts'

/** One client's paging: told to it alone, by its connection, and never again. */
const unreplayed = new Set(['chat/turnsLoaded'])

/** A channel that is awake: its states, who listens, and what passed lately. */
export class Channel {
  readonly uri: Uri
  readonly kind: ChannelKind
  /** The URI as JSON: it stands in every envelope. */
  readonly label: string
  /** Some of what it is made of is stored nowhere. */
  readonly lossy: boolean
  /** After everything appended: for guards and for numbering. */
  head: unknown
  /** After everything told: for everyone else. Absent until its birth was told. */
  told: unknown
  /** Appended and not yet told. */
  untold = 0
  /** What was last given to the store of it. */
  stored = 0
  /** Stored since the last head was, in actions and in characters. */
  sinceHead = 0
  lengthSinceHead = 0
  /** Something was reduced that no head shows. */
  changed = false
  /** It is going to be looked at whether it may sleep. */
  resting = false
  readonly listeners = new Set<Listener>()
  readonly #passed: Entry[] = []
  #passedBytes = 0
  /** Of what passed, everything above this number is still here. */
  #passedFrom: number

  constructor(uri: Uri, kind: ChannelKind, head: unknown, passedFrom: number) {
    this.uri = uri
    this.kind = kind
    this.label = JSON.stringify(uri)
    this.head = head
    this.lossy = [...kind.classes].some(([type, kept]) => kept === 'passing' && !unreplayed.has(type))
    this.#passedFrom = this.lossy ? passedFrom : 0
  }

  /** Whether it has a row with that id. */
  has(id: string): boolean {
    return this.#rows(this.head).some((row) => row.id === id)
  }

  strideOf(action: Action): number {
    return this.kind.strides.get(action.type) ?? 1
  }

  pass(entry: Entry): void {
    this.#passed.push(entry)
    this.#passedBytes += entry.text.length
    while (this.#passedBytes > limits.passingBytes) {
      const gone = this.#passed.shift()
      if (!gone) return
      this.#passedBytes -= gone.text.length
      this.#passedFrom = gone.last
    }
  }

  /** What passed above a number; nothing when some of it is gone. */
  passedSince(after: number): readonly Entry[] | undefined {
    return after < this.#passedFrom ? undefined : this.#passed.filter((entry) => entry.seq > after)
  }

  /** How the rows change with the state. The list only grows at its end or is cut there. */
  rowChanges(before: unknown, after: unknown): readonly RowChange[] {
    const old = this.#rows(before)
    const now = this.#rows(after)
    if (old === now) return []
    let same = 0
    while (same < old.length && old[same] === now[same]) same++
    const gone = old.slice(same).map(({ id }) => ({ channel: this.uri, id }))
    const come = now.slice(same).map((row) => ({ channel: this.uri, id: row.id, text: JSON.stringify(row) }))
    return [...gone, ...come]
  }

  /** The state as a head keeps it: its rows are kept by themselves, and their number stands in their place. */
  headText(): string {
    const { rows } = this.kind
    return JSON.stringify(
      rows === undefined ? this.head : { ...(this.head as object), [rows]: this.#rows(this.head).length },
    )
  }

  #rows(state: unknown): readonly Row[] {
    const { rows } = this.kind
    return rows === undefined ? none : ((state as Record<string, readonly Row[] | undefined>)[rows] ?? none)
  }
}

interface Row {
  readonly id: string
}

const none: readonly Row[] = []
