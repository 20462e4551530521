import type { AgentAction, Chat } from '@atrium/host/ports/agent'
import { Chance } from '../../chance.ts'
import { callsOf } from '../tool-calls.ts'
import { directory, paths } from './folder.ts'

/** What agents need in order to change files. */
export interface Workplace {
  /** Resolves when a running call of the chat may change files. An agent that works on its own does not wait for it. */
  ready(chat: string): Promise<void> | undefined
  /** An agent begins a turn. */
  begins(chat: string, turnId: string): void
  /** A turn changes files: those that its call has named, or any. */
  edit(turnId: string, chance: Chance, among?: readonly string[]): void
  /** A call of a turn names the files that it changes. */
  names(turnId: string, toolCallId: string, named: readonly string[]): void
}

/**
 * The edits of one agent turn: calls that begin, change files and end. Some calls run at the same time, and some agents change
 * files without a call, or before the host has looked at the folder.
 */
export class AgentEdits {
  readonly #chat: Chat
  readonly #name: () => number
  readonly #place: Workplace
  readonly #calls = new Map<string, 'started' | 'running'>()
  /** The files that calls have named. A command names none, and may change any file. */
  readonly #named = new Map<string, readonly string[]>()

  constructor(chat: Chat, name: () => number, place: Workplace) {
    this.#chat = chat
    this.#name = name
    this.#place = place
    for (const { toolCallId, status } of callsOf(chat.state.activeTurn))
      if (status === 'running') this.#calls.set(toolCallId, status)
  }

  /** Returns a step. The step decides what to do only when it runs, because everything may change until then. */
  step(chance: Chance): () => Promise<IteratorResult<AgentAction>> {
    const dice = new Chance(chance.next())
    return async () => ({ done: false, value: await this.#next(dice) })
  }

  async #next(chance: Chance): Promise<AgentAction> {
    const [toolCallId, stage] = chance.pick([...this.#calls]) ?? []
    if (toolCallId === undefined) {
      // Some agents change files outside of calls. Nobody can tell who did that.
      if (chance.oneIn(8)) return this.#edit(chance)
      return this.#start()
    }
    if (stage === 'started') return this.#begin(toolCallId, chance)
    if (this.#calls.size < 2 && chance.oneIn(8)) return this.#start()
    if (chance.oneIn(3)) return this.#end(toolCallId)
    if (!chance.oneIn(4)) await this.#place.ready(this.#chat.uri)
    return this.#edit(chance, this.#named.get(toolCallId))
  }

  #start(): AgentAction {
    const toolCallId = `call-${this.#name()}`
    this.#calls.set(toolCallId, 'started')
    return { type: 'chat/toolCallStart', toolCallId, toolName: 'tool', displayName: 'tool' }
  }

  async #begin(toolCallId: string, chance: Chance): Promise<AgentAction> {
    this.#calls.set(toolCallId, 'running')
    if (!chance.oneIn(3)) {
      const named = chance.shuffled(paths).slice(0, 1 + chance.below(paths.length))
      this.#named.set(toolCallId, named)
      this.#place.names(this.#chat.turnId, toolCallId, named)
      await this.#chat.files.writesOnly(
        toolCallId,
        named.map((path) => `${directory}/${path}`),
      )
    }
    const invocationMessage = `input-${this.#name()}`
    return {
      type: 'chat/toolCallReady',
      toolCallId,
      invocationMessage,
      toolInput: invocationMessage,
      confirmed: 'not-needed',
    }
  }

  #end(toolCallId: string): AgentAction {
    this.#calls.delete(toolCallId)
    return {
      type: 'chat/toolCallComplete',
      toolCallId,
      result: { success: true, pastTenseMessage: 'Done' },
    }
  }

  #edit(chance: Chance, among?: readonly string[]): AgentAction {
    this.#place.edit(this.#chat.turnId, chance, among)
    return { type: 'chat/activityChanged', activity: `activity ${this.#name()}` }
  }
}
