import type { Step } from '@atrium/host/ports/log'
import { equal } from '@atrium/host/log/equal'
import type { Action, Uri } from '@atrium/protocol/channel'
import { kindNamed } from '@atrium/protocol/channels'
import type { ChannelKind } from '@atrium/protocol/kind'
import type { Transaction } from './disk.ts'

/** An action as the store was given it, and the state after it. */
export interface Fact {
  readonly seq: number
  readonly action: Action
  readonly text: string
  readonly origin: { readonly clientId: string; readonly clientSeq: number } | undefined
  state: unknown
  /** The transaction it is in; nothing for what only passes. */
  readonly at: number | undefined
  /** The state is what a head said, not what the fold says: what only passed before it is in it. */
  readonly fixed?: true
}

export interface Story {
  readonly kind: ChannelKind
  readonly born: { readonly seq: number; readonly state: unknown; readonly at: number }
  readonly facts: Fact[]
  dropped?: { readonly seq: number; readonly at: number }
}

/** What has happened, by the steps that the store was given: an account that shares no code with the log. */
export class Truth {
  readonly stories = new Map<Uri, Story>()
  readonly #wrong: (problem: string) => void
  #rebuilding = false

  constructor(wrong: (problem: string) => void) {
    this.#wrong = wrong
  }

  /** A step was given to the store as this transaction. */
  given(step: Step, at: number): void {
    for (const { seq, channel, kind: name, state } of step.created) {
      const kind = kindNamed(name)
      if (kind)
        this.stories.set(channel, { kind, born: { seq, state: JSON.parse(state) as unknown, at }, facts: [] })
    }
    for (const { seq, channel, action: text, origin } of step.envelopes)
      this.#insert(channel, { seq, action: JSON.parse(text) as Action, text, origin, at, state: undefined })
    for (const { channel, seq, state } of step.heads)
      this.#head(channel, seq, JSON.parse(state) as object, at)
    for (const { channel, seq } of step.dropped) {
      const story = this.stories.get(channel)
      if (story) story.dropped = { seq, at }
    }
  }

  /** Something that is never stored. */
  passed(channel: Uri, seq: number, action: Action, origin: Fact['origin']): void {
    const text = JSON.stringify(action)
    this.#insert(channel, { seq, action, text, origin, at: undefined, state: undefined })
  }

  /** After a crash only what the disk kept is true. */
  rebuild(transactions: readonly Transaction[]): void {
    this.stories.clear()
    this.#rebuilding = true
    for (const [at, { step }] of transactions.entries()) if (step) this.given(step, at)
    this.#rebuilding = false
  }

  /** The story of a channel that is there. */
  living(uri: Uri): Story | undefined {
    const story = this.stories.get(uri)
    return story?.dropped ? undefined : story
  }

  stateAt(uri: Uri, seq: number): unknown {
    const story = this.stories.get(uri)
    if (!story || seq < story.born.seq) return undefined
    return story.facts.findLast((fact) => fact.seq <= seq)?.state ?? story.born.state
  }

  fact(uri: Uri, seq: number): Fact | undefined {
    return this.stories.get(uri)?.facts.findLast((fact) => fact.seq === seq && !fact.fixed)
  }

  /** A head says what the fold says, with the number of its rows in their place. */
  #head(channel: Uri, seq: number, head: object, at: number): void {
    const story = this.stories.get(channel)
    if (!story) return
    const { kind } = story
    const state = this.stateAt(channel, seq) as Record<string, readonly unknown[]>
    const shown = kind.rows === undefined ? state : { ...state, [kind.rows]: state[kind.rows]?.length }
    if (equal(head, shown)) return
    // After a crash a head may show more than what is stored: what passed before it was not.
    if (this.#rebuilding && [...kind.classes.values()].includes('ephemeral') && kind.rows === undefined)
      this.#insert(channel, {
        seq,
        action: { type: '@head' },
        text: '',
        origin: undefined,
        at,
        state: head,
        fixed: true,
      })
    else this.#wrong(`the head of ${channel} at ${seq} is not its fold`)
  }

  /** In number order, whatever the order in which they became known. */
  #insert(channel: Uri, fact: Fact): void {
    const story = this.stories.get(channel)
    if (!story) return
    // A head says what is after the action that has its number.
    const before = (seq: number) => seq < fact.seq || (fact.fixed === true && seq === fact.seq)
    const at = story.facts.findLastIndex(({ seq }) => before(seq)) + 1
    story.facts.splice(at, 0, fact)
    let state = story.facts[at - 1]?.state ?? story.born.state
    for (const later of story.facts.slice(at)) {
      state = later.fixed ? later.state : story.kind.reduce(state, later.action)
      later.state = state
    }
  }
}

/** Runs of these may be told as one. */
const growing = new Set(['chat/delta', 'chat/reasoning', 'terminal/data'])

export function mayMerge({ type }: Action): boolean {
  return growing.has(type)
}

/** Whether two states of a channel say the same, but for what no action can change. */
export function alike(kind: ChannelKind, a: unknown, b: unknown): boolean {
  return equal(without(a, kind.derived), without(b, kind.derived))
}

type Left = { readonly [key: string]: true | number | Left }

function without(state: unknown, derived: object): unknown {
  if (typeof state !== 'object' || state === null) return state
  const left = { ...(state as Record<string, unknown>) }
  for (const [key, how] of Object.entries(derived as Left)) {
    if (how === true) delete left[key]
    else if (typeof how === 'number') left[key] = Number(left[key] ?? 0) & ~how
    else if (left[key] !== undefined) left[key] = without(left[key], how)
  }
  return left
}
