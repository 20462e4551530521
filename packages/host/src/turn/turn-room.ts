import type { Uri } from '@atrium/protocol/channel'
import { stateLength } from '../channels/state-length.ts'
import type { Core } from '../core/core.ts'
import type { Channel } from '../log/channel.ts'
import type { AgentAction } from '../ports/agent.ts'
import { keepBytes } from '../content/content.ts'
import { externalized, isLarge, keepText } from '../content/large-output.ts'
import type { InlineLengths } from '../content/large-output.ts'
import type { TextBatch } from './text-batch.ts'

/**
 * The room for an agent's output in the state of its chat. Output that has no room is stored outside the state, and the state
 * gets a reference to it. This must be decided before the output is appended: no action can move text out of a state.
 */
export class TurnRoom {
  readonly #core: Core
  readonly #session: Uri
  readonly #chat: Channel<'chat'>
  /** Text that has no room and is not stored yet. */
  #rest = ''

  readonly #batch: TextBatch

  constructor(core: Core, session: Uri, chat: Channel<'chat'>, batch: TextBatch) {
    this.#batch = batch
    this.#core = core
    this.#session = session
    this.#chat = chat
  }

  /** Whether an output can be appended as it is. */
  fits(output: AgentAction): boolean {
    if (this.#rest !== '') return false
    const { length } = textOf(output)
    return length > 0 ? length <= this.#room : !isLarge(output, this.#inline)
  }

  /** Stores the part of an output that has no room. Returns the actions to append in place of the output. */
  async fit(output: AgentAction): Promise<readonly AgentAction[]> {
    const text = textOf(output)
    if (text === '') return [...(await this.flush()), await this.#externalized(output)]
    const room = this.#rest === '' ? this.#room : 0
    const [head, tail] = splitAt(text, room)
    const inline = head === '' && output.type !== 'chat/responsePart' ? [] : [withText(output, head)]
    // Pieces of a tool's input are only a preview: the whole input follows when the call is ready.
    if (output.type === 'chat/toolCallDelta') return inline
    this.#rest += tail
    return [...inline, ...(await this.#storeLong())]
  }

  /** Stores the text that has no room. Returns an action that adds a reference to it. */
  async flush(): Promise<readonly AgentAction[]> {
    const text = this.#rest
    if (text === '') return []
    this.#rest = ''
    return [await this.#reference(text)]
  }

  async #storeLong(): Promise<readonly AgentAction[]> {
    const references: AgentAction[] = []
    while (this.#rest.length >= pieceLength) {
      const [piece, rest] = splitAt(this.#rest, pieceLength)
      this.#rest = rest
      references.push(await this.#reference(piece))
    }
    return references
  }

  async #reference(text: string): Promise<AgentAction> {
    const reference = await keepText(text, this.#keep, 'text/markdown')
    return { type: 'chat/responsePart', part: { kind: 'contentRef', ...reference } }
  }

  #externalized(output: AgentAction): Promise<AgentAction> {
    const max = this.#inline
    return isLarge(output, max)
      ? externalized(this.#core, this.#session, output, max)
      : Promise.resolve(output)
  }

  readonly #keep = (bytes: Uint8Array, contentType: string) =>
    keepBytes(this.#core, this.#session, bytes, contentType)

  /** The number of characters that still have room. */
  get #room(): number {
    const used = stateLength(this.#core, this.#chat) + this.#batch.length
    return Math.max(0, this.#core.limits.turnLength - used)
  }

  /** The lengths up to which the input and output of tools stay in the state. They fall as the state grows. */
  get #inline(): InlineLengths {
    const room = this.#room
    const { inlineLength } = this.#core.limits
    return {
      output: Math.min(inlineLength, Math.max(minInline, room / 16)),
      input: Math.max(minInline, room),
    }
  }
}

/** The length of a piece of text that is stored outside the state, in characters. The last piece is shorter. */
const pieceLength = 256 * 1024

/** Content up to this length is always in the state, because a reference would be nearly as long. */
const minInline = 1024

/** Returns the text that an action adds to the state, or an empty text. No schema has checked the action yet. */
function textOf(output: unknown): string {
  if (typeof output !== 'object' || output === null) return ''
  const { type, content, part }: { type?: unknown; content?: unknown; part?: unknown } = output
  if (type === 'chat/delta' || type === 'chat/reasoning' || type === 'chat/toolCallDelta')
    return typeof content === 'string' ? content : ''
  if (type !== 'chat/responsePart' || typeof part !== 'object' || part === null) return ''
  const { kind, content: text }: { kind?: unknown; content?: unknown } = part
  return (kind === 'markdown' || kind === 'reasoning') && typeof text === 'string' ? text : ''
}

function withText(output: AgentAction, content: string): AgentAction {
  if (
    output.type === 'chat/delta' ||
    output.type === 'chat/reasoning' ||
    output.type === 'chat/toolCallDelta'
  )
    return { ...output, content }
  if (output.type !== 'chat/responsePart') return output
  const { part } = output
  return part.kind === 'markdown' || part.kind === 'reasoning'
    ? { ...output, part: { ...part, content } }
    : output
}

/** Splits a text. A character of two UTF-16 units is not split. */
export function splitAt(text: string, length: number): readonly [string, string] {
  if (length >= text.length) return [text, '']
  const unit = text.charCodeAt(length - 1)
  const at = unit >= 0xd800 && unit <= 0xdbff ? length - 1 : length
  return [text.slice(0, at), text.slice(at)]
}
