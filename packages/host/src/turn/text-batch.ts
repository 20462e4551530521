import type { Action } from '@atrium/protocol/channel'
import { decode, id } from '@atrium/protocol/schema'
import type { World } from '../ports/world.ts'

/** So much is said in one breath; then others are heard. Less where each word is a message to somebody. */
const most = { words: 128, actions: 16 }

/** So many characters are kept back at most. */
const longest = 64 * 1024

/**
 * The words that an agent says before anybody else has a turn. They are one step, which costs the state, the store and the
 * scheduler as much as a single word does.
 */
export class TextBatch {
  readonly #world: World
  readonly #speak: (whole: TextDelta, words: readonly TextDelta[]) => void
  readonly #eachIsWanted: () => boolean
  /** All of one part. */
  #deltas: TextDelta[] = []
  #text = ''
  /** Said since others were last heard. */
  #count = 0
  #undo: (() => void) | undefined

  constructor(
    world: World,
    speak: (whole: TextDelta, words: readonly TextDelta[]) => void,
    eachIsWanted: () => boolean = () => false,
  ) {
    this.#world = world
    this.#speak = speak
    this.#eachIsWanted = eachIsWanted
  }

  /** It is time that others are heard. */
  get full(): boolean {
    if (this.#count < most.actions) return false
    return this.#count >= most.words || this.#eachIsWanted()
  }

  /** Keeps a word back, for a moment. */
  add(word: TextDelta): void {
    const [first] = this.#deltas
    if (first && (first.partId !== word.partId || first.type !== word.type)) this.flush()
    this.#count++
    this.#deltas.push(word)
    this.#text += word.content
    this.#undo ??= this.#world.later(0, () => this.end())
    if (this.#text.length > longest) this.flush()
  }

  /** Says what it has kept back: something else comes behind it. */
  flush(): void {
    this.#count++
    const words = this.#deltas
    const [first] = words
    const content = this.#text
    this.drop()
    if (first) this.#speak({ ...first, content }, words)
  }

  /** The same, and others are heard now. */
  end(): void {
    this.flush()
    this.#count = 0
  }

  /** Nobody wants to hear it any more. */
  drop(): void {
    this.#undo?.()
    this.#undo = undefined
    this.#deltas = []
    this.#text = ''
  }
}

/** A piece of text of a turn, and nothing beside it. */
export interface TextDelta extends Action {
  readonly turnId: string
  readonly partId: string
  readonly content: string
}

/**
 * What is said, as a word of a turn, where it is one. Of words there are so many that their shape is looked at by hand:
 * anything that is not exactly that is for the schema to judge.
 */
export function textDeltaOf(said: unknown, turnId: string): TextDelta | undefined {
  const { type, partId, content } = (said ?? {}) as Partial<TextDelta>
  if ((type !== 'chat/delta' && type !== 'chat/reasoning') || !isId(partId)) return undefined
  const plain = typeof content === 'string' && Object.keys(said as object).length === 3
  return plain ? { type, turnId, partId, content } : undefined
}

/** The same few come thousands of times. */
const known = new Set<string>()

function isId(text: unknown): text is string {
  if (typeof text !== 'string') return false
  if (known.has(text)) return true
  if (!decode(id, text).ok) return false
  if (known.size >= 64) known.clear()
  known.add(text)
  return true
}
