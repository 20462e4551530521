import type { Uri } from '@atrium/protocol/channel'
import { stateLength } from '../../channels/state-length.ts'
import { keepBytes } from '../../channels/content/content.ts'
import { externalized, isLarge, keepText } from '../../channels/content/large-output.ts'
import type { InlineLengths } from '../../channels/content/large-output.ts'
import type { Core } from '../../kernel/core.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import type { AgentAction } from '../../ports/agent.ts'
import { DiskFull } from '../../ports/log.ts'
import { splitAt, textIn, withText } from './output-text.ts'
import type { OutputText } from './output-text.ts'
import type { TextBatch } from './text-batch.ts'

/** The turn that output is for. */
interface TurnPlace {
  readonly core: Core
  readonly session: Uri
  readonly chat: Channel<'chat'>
  readonly signal: AbortSignal
}

/**
 * The room for an agent's output: how many characters the state of its chat may still grow by. Output that does not
 * fit is stored outside the state, and the state gets a reference to it. This must be decided before the output is
 * appended: no action can move text out of a state.
 */
export class TurnRoom {
  readonly #place: TurnPlace
  readonly #batch: TextBatch
  /** Text that does not fit into the state and is not stored yet. `since`: the time at which it began to wait. */
  #rest: (OutputText & { readonly since: number }) | undefined
  /** The ids of the parts and calls that were too long for the state. All further text of them is stored as contents. */
  readonly #continued = new Set<string>()

  constructor(place: TurnPlace, batch: TextBatch) {
    this.#place = place
    this.#batch = batch
  }

  /** Whether text waits that is not stored yet. */
  get hasRest(): boolean {
    return this.#rest !== undefined
  }

  /** Whether an output can be appended as it is. */
  fits(output: AgentAction): boolean {
    if (this.#rest) return false
    const text = textIn(output)
    if (!text) return !isLarge(output, this.#inlineFor(output))
    return !this.#continued.has(text.id) && jsonLength(text.content, this.#room) <= this.#room
  }

  /**
   * Stores the part of an output that does not fit into the state. Returns the actions to append in place of the
   * output.
   */
  async split(output: AgentAction): Promise<readonly AgentAction[]> {
    const text = textIn(output)
    if (!text) {
      const before = await this.flush()
      return [
        ...before,
        await externalized(this.#place.core, this.#place.session, output, this.#inlineFor(output)),
      ]
    }
    const before = this.#rest && this.#rest.id !== text.id ? await this.flush() : []
    const [head, tail] = this.#splitText(text)
    if (tail !== '') this.#continued.add(text.id)
    // Pieces of a tool's input are only a preview: the whole input follows when the call is ready.
    if (output.type === 'chat/toolCallDelta') return [...before, withText(output, head)]
    const inline = head === '' && output.type !== 'chat/responsePart' ? [] : [withText(output, head)]
    if (tail !== '') this.#keepRest({ ...text, content: tail })
    return [...before, ...inline, ...(await this.#storeDue())]
  }

  /**
   * Stores the text that does not fit into the state of the chat. Returns the actions that add references to the
   * stored text, one for each piece.
   */
  async flush(): Promise<readonly AgentAction[]> {
    const references: AgentAction[] = []
    while (this.#rest) references.push(await this.#storePiece(this.#rest))
    return references
  }

  #splitText({ id, content }: OutputText): readonly [string, string] {
    const room = this.#rest || this.#continued.has(id) ? 0 : this.#room
    const length = jsonLength(content, room)
    return splitAt(content, length <= room ? content.length : Math.floor((room * content.length) / length))
  }

  #keepRest(text: OutputText): void {
    const { content = '', since = this.#place.core.world.now() } = this.#rest ?? {}
    this.#rest = { ...text, content: content + text.content, since }
  }

  /** Stores long text, and text that has waited for some time. */
  async #storeDue(): Promise<readonly AgentAction[]> {
    const references: AgentAction[] = []
    while (this.#rest && (this.#rest.content.length >= pieceLength || this.#waited >= restMs))
      references.push(await this.#storePiece(this.#rest))
    return references
  }

  get #waited(): number {
    const now = this.#place.core.world.now()
    return now - (this.#rest?.since ?? now)
  }

  /** Stores the next piece of the waiting text. The piece leaves the waiting text only when it is durable. */
  async #storePiece({ content, kind }: OutputText): Promise<AgentAction> {
    const [piece] = splitAt(content, pieceLength)
    const reference = await this.#stored(piece)
    const { content: now = '', ...text } = this.#rest ?? { id: '', kind, since: 0 }
    const left = now.slice(piece.length)
    this.#rest = left === '' ? undefined : { ...text, content: left }
    const mark = kind === 'reasoning' && { _meta: { 'x-atrium': { reasoning: true } } }
    return { type: 'chat/responsePart', part: { kind: 'contentRef', ...reference, ...mark } }
  }

  /** Stores a text. On a full disk it waits for space, as other text does. */
  async #stored(text: string) {
    const { core, session, signal } = this.#place
    for (;;) {
      try {
        return await keepText(text, (...content) => keepBytes(core, session, ...content), 'text/markdown')
      } catch (error) {
        if (!(error instanceof DiskFull) || signal.aborted) throw error
        await new Promise<void>((resolve) => core.world.later(restMs, resolve))
      }
    }
  }

  /** The number of characters that still have room in the state. */
  get #room(): number {
    const { core, chat } = this.#place
    return Math.max(0, core.limits.turnLength - stateLength(core, chat) - this.#batch.length)
  }

  /**
   * The lengths, in characters, up to which the input and output of tools stay in the state. They fall as the state
   * grows. The input of a call that asks for confirmation is also in the state of the session, so its length is
   * limited further.
   */
  #inlineFor(action: AgentAction): InlineLengths {
    const { inlineLength } = this.#place.core.limits
    const room = this.#room
    const asks = action.type === 'chat/toolCallReady' && action.confirmed === undefined
    return {
      output: Math.min(inlineLength, Math.max(minInline, room / 16)),
      input: Math.max(minInline, asks ? Math.min(inlineLength, room) : room),
    }
  }
}

/**
 * How long text waits before it is stored outside the state, in milliseconds. It is short, so that clients see the
 * text soon.
 */
export const restMs = 1000

/** The length of a piece of text that is stored outside the state, in characters. */
const pieceLength = 256 * 1024

/** Content up to this length, in characters, is always in the state, because a reference would be nearly as long. */
const minInline = 1024

/**
 * The length of a text in JSON, in characters. A character takes at most six characters in JSON. So a text of less
 * than a sixth of `room` surely fits: it is not measured, and its own length is returned.
 */
function jsonLength(text: string, room: number): number {
  return text.length * 6 <= room ? text.length : JSON.stringify(text).length - 2
}
