import type { Chat } from '@atrium/host/ports/agent'
import type { ChatState, ReasoningPart, ResponsePart } from '@atrium/protocol/chat/state'

/**
 * Where a turn stands with what it has said. What an agent says is told a little later, and nothing is made of a chat's state before all of
 * it is there.
 */
export class Telling {
  readonly #chat: Chat
  readonly #written = new Map<string, number>()
  #parts: number

  constructor(chat: Chat) {
    this.#chat = chat
    this.#parts = chat.state.activeTurn?.responseParts.length ?? 0
  }

  /** How many parts the turn has. */
  get parts(): number {
    return this.#parts
  }

  /** Another part, by its position in the turn: no part, errors and all, is ever called like another. */
  newId(): string {
    this.made()
    return `${this.#chat.turnId}-${this.#parts}`
  }

  /** A part that needs no id. */
  made(): void {
    this.#parts++
  }

  wrote(partId: string, length: number): void {
    const before = this.#written.get(partId) ?? this.#lengthOf(partId, this.#chat.state)
    this.#written.set(partId, before + length)
  }

  /** The text that was cut off, and goes on. */
  get openText(): string | undefined {
    const last = this.#last
    return last?.kind === 'markdown' ? last.id : undefined
  }

  get openThought(): ReasoningPart | undefined {
    const last = this.#last
    return last?.kind === 'reasoning' ? last : undefined
  }

  /** Changes with every part, and with every word. */
  get mark(): number {
    return [...this.#written.values()].reduce((sum, length) => sum + length, this.#parts)
  }

  /** Resolves when everyone was told all of it, and what became of each call. */
  async told(): Promise<ChatState> {
    return this.#chat.when((state) => {
      const parts = state.activeTurn?.responseParts ?? []
      if (parts.length < this.#parts || parts.some(isOpen)) return false
      return [...this.#written].every(([id, length]) => this.#lengthOf(id, state) >= length)
    })
  }

  get #last(): ResponsePart | undefined {
    return this.#chat.state.activeTurn?.responseParts.findLast(({ kind }) => kind !== 'error')
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
