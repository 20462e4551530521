import type { Chat } from '@atrium/host/ports/agent'
import { metaOf } from './meta.ts'
import type { ChatState, ReasoningPart, ResponsePart } from '@atrium/protocol/chat/state'

/**
 * Counts the parts and the text that a turn has emitted. An emitted action appears in the chat's state a little later. So the
 * turn awaits `committed` before it builds a request from the state.
 */
export class StreamProgress {
  readonly #chat: Chat
  readonly #textLengths = new Map<string, number>()
  #partCount: number

  constructor(chat: Chat) {
    this.#chat = chat
    this.#partCount = chat.state.activeTurn?.responseParts.length ?? 0
  }

  /** Number of parts of the turn, committed or not. */
  get partCount(): number {
    return this.#partCount
  }

  /** Counts a new part and returns its id. The id contains the position of the part in the turn, so it is unique. */
  newPartId(): string {
    this.addPart()
    return `${this.#chat.turnId}-${this.#partCount}`
  }

  /** Counts a part that has no id. */
  addPart(): void {
    this.#partCount++
  }

  addText(partId: string, length: number): void {
    const before = this.#textLengths.get(partId) ?? this.#lengthOf(partId, this.#chat.state)
    this.#textLengths.set(partId, before + length)
  }

  /**
   * The id of the last part if that part is text, else undefined. It is an interrupted text, which the model
   * continues.
   */
  get lastTextId(): string | undefined {
    const last = this.#lastPart
    return last?.kind === 'markdown' ? last.id : undefined
  }

  get lastReasoning(): ReasoningPart | undefined {
    const last = this.#lastPart
    return last?.kind === 'reasoning' ? last : undefined
  }

  /** The number of parts plus the lengths of all texts. The sum grows with everything that the turn emits. */
  get total(): number {
    return [...this.#textLengths.values()].reduce((sum, length) => sum + length, this.#partCount)
  }

  /**
   * Waits until the chat's state contains everything that was emitted and all tool calls are finished. Resolves with the
   * state.
   */
  async committed(): Promise<ChatState> {
    // A condition on the state is not enough, because the host stores long text outside the state.
    await this.#chat.settled()
    return this.#chat.when((state) => !(state.activeTurn?.responseParts ?? []).some(isOpen))
  }

  /** The last part that the model knows. Errors and notices of the agent are not sent to it. */
  get #lastPart(): ResponsePart | undefined {
    return this.#chat.state.activeTurn?.responseParts.findLast(
      (part) =>
        part.kind !== 'error' && (part.kind !== 'systemNotification' || metaOf(part).steering !== undefined),
    )
  }

  #lengthOf(partId: string, { activeTurn }: ChatState): number {
    const part = activeTurn?.responseParts.find((each) => each.kind === 'markdown' && each.id === partId)
    return part?.kind === 'markdown' ? part.content.length : 0
  }
}

function isOpen(part: ResponsePart): boolean {
  return (
    part.kind === 'toolCall' && part.toolCall.status !== 'completed' && part.toolCall.status !== 'cancelled'
  )
}
