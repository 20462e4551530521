import type { Action } from '@atrium/protocol/channel'
import { decode, id } from '@atrium/protocol/schema'
import type { World } from '../../ports/world.ts'

/**
 * Number of deltas after which a turn yields to other work. `separate` applies if some client is sent each delta by itself.
 */
const yieldAfter = { merged: 128, separate: 16 }

/** Maximum number of characters that a batch holds back. */
const maxLength = 64 * 1024

/** Appends a batch: `merged` holds the text of all `deltas`. */
type AppendText = (merged: TextDelta, deltas: readonly TextDelta[]) => void

/**
 * Text deltas that an agent produces before the event loop runs anything else. They are appended in one step. For the state,
 * the store and the scheduler this step costs as much as a single delta.
 */
export class TextBatch {
  readonly #world: World
  readonly #append: AppendText
  readonly #wantsEach: () => boolean
  /** The deltas held back. All have the same type and response part. */
  #deltas: TextDelta[] = []
  #text = ''
  /** Number of deltas and flushes since the turn last yielded. */
  #count = 0
  #cancelTimer: (() => void) | undefined

  constructor(world: World, append: AppendText, wantsEach: () => boolean = () => false) {
    this.#world = world
    this.#append = append
    this.#wantsEach = wantsEach
  }

  /** The number of characters that are held back. */
  get length(): number {
    return this.#text.length
  }

  /** Whether the turn should yield now. */
  get full(): boolean {
    if (this.#count < yieldAfter.separate) return false
    return this.#count >= yieldAfter.merged || this.#wantsEach()
  }

  /** Holds a delta back until the next flush, at the latest until the next timer tick. */
  add(delta: TextDelta): void {
    const [first] = this.#deltas
    if (first && (first.partId !== delta.partId || first.type !== delta.type)) this.flush()
    this.#count++
    this.#deltas.push(delta)
    this.#text += delta.content
    this.#cancelTimer ??= this.#world.later(0, () => this.end())
    if (this.#text.length > maxLength) this.flush()
  }

  /** Appends the deltas held back. The caller does this right before it appends another action. */
  flush(): void {
    this.#count++
    const deltas = this.#deltas
    const [first] = deltas
    const content = this.#text
    this.drop()
    if (first) this.#append({ ...first, content }, deltas)
  }

  /** Appends the deltas held back, and starts counting again: the turn yields now. */
  end(): void {
    this.flush()
    this.#count = 0
  }

  /** Discards the deltas held back. */
  drop(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#deltas = []
    this.#text = ''
  }
}

/** A `chat/delta` or `chat/reasoning` action that has no other members. */
export interface TextDelta extends Action {
  readonly turnId: string
  readonly partId: string
  readonly content: string
}

/**
 * Returns the output of an agent as a text delta; undefined if the output is anything else, which the caller then checks with
 * the schema. Deltas are so frequent that this check is written by hand.
 */
export function textDeltaOf(output: unknown, turnId: string): TextDelta | undefined {
  if (typeof output !== 'object' || output === null) return undefined
  const { type, partId, content }: Partial<TextDelta> = output
  if ((type !== 'chat/delta' && type !== 'chat/reasoning') || !isId(partId)) return undefined
  const plain = typeof content === 'string' && Object.keys(output).length === 3
  return plain ? { type, turnId, partId, content } : undefined
}

/** Ids that passed the check. An agent repeats the same few ids thousands of times. */
const checkedIds = new Set<string>()

function isId(text: unknown): text is string {
  if (typeof text !== 'string') return false
  if (checkedIds.has(text)) return true
  if (!decode(id, text).ok) return false
  if (checkedIds.size >= 64) checkedIds.clear()
  checkedIds.add(text)
  return true
}
