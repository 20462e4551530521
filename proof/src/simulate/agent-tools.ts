import type { Chat, RunningCommand, AgentAction } from '@atrium/host/ports/agent'
import { TurnFailed } from '@atrium/host/ports/agent'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { Chance } from '../chance.ts'
import { callIn, callsOf, clientRunning } from './tool-calls.ts'
import { count } from './tally.ts'

/** How far a call has come, as far as the agent knows. */
type Stage = 'started' | 'asked' | 'working' | 'shown'

export const toolNames = ['read', 'write', 'run'] as const

/**
 * The tool calls of one agent turn. The agent starts calls, asks for approvals, asks again, waits for users and for
 * clients that run tools, runs commands and shows results. Sometimes it does not wait, or forges a decision of a user.
 * It resumes the calls of earlier host runs, and carries out each call once.
 */
export class AgentTools {
  readonly #chat: Chat
  readonly #name: () => number
  readonly #calls = new Map<string, Stage>()
  /**
   * For each call, the input that the agent asked for last. While the host's state does not show this input, the state
   * is old.
   */
  readonly #asked = new Map<string, string>()
  readonly #carriedOut = new Map<string, RunningCommand['done'] | undefined>()

  constructor(chat: Chat, name: () => number) {
    this.#chat = chat
    this.#name = name
    for (const { toolCallId, status } of callsOf(chat.state.activeTurn)) {
      const stage = stages.get(status)
      if (stage) this.#calls.set(toolCallId, stage)
    }
  }

  /**
   * Returns a step. The step decides what to do only when it runs, because everything may change while an earlier step
   * waits.
   */
  step(chance: Chance): () => Promise<IteratorResult<AgentAction>> {
    const dice = new Chance(chance.next())
    return async () => ({ done: false, value: await this.#next(dice) })
  }

  async #next(chance: Chance): Promise<AgentAction> {
    const [id, stage] = chance.pick([...this.#calls]) ?? []
    if (id === undefined || (this.#calls.size < 3 && chance.oneIn(4))) return this.#start(chance)
    if (stage === 'started') return this.#ask(id, chance)
    if (stage !== 'shown' && chance.oneIn(8)) return this.#ask(id, chance)
    if (chance.oneIn(20)) return forged(id, this.#name(), chance)
    if (stage === 'working') return this.#finish(id, chance)
    // Sometimes the agent does not wait for the decision.
    if (stage === 'asked' && chance.oneIn(8)) return this.#carryOut(id, 'rash')
    return this.#wait(chance)
  }

  #start(chance: Chance): AgentAction {
    const toolCallId = `call-${this.#name()}`
    this.#calls.set(toolCallId, 'started')
    const executor = chance.oneIn(2) ? this.#pickClient(chance) : undefined
    const toolName = this.#pickTool(executor, chance)
    const contributor =
      executor === undefined ? {} : { contributor: { kind: 'client' as const, clientId: executor } }
    return { type: 'chat/toolCallStart', toolCallId, toolName, displayName: toolName, ...contributor }
  }

  /** Picks the client that shall run a tool: mostly an active client. */
  #pickClient(chance: Chance): string | undefined {
    const { activeClients } = this.#chat.session
    return chance.oneIn(4) ? `c${chance.below(4)}` : chance.pick(activeClients)?.clientId
  }

  /** Picks a tool: mostly one that the client has, if a client shall run it. */
  #pickTool(executor: string | undefined, chance: Chance): string {
    const client = this.#chat.session.activeClients.find(({ clientId }) => clientId === executor)
    const offered = chance.oneIn(4) ? undefined : chance.pick(client?.tools ?? [])?.name
    return offered ?? chance.pick(toolNames) ?? 'run'
  }

  /**
   * Asks for an approval, or claims that none is needed. After such a claim the host runs no command for the call;
   * only a client may carry it out.
   */
  #ask(toolCallId: string, chance: Chance): AgentAction {
    if (this.#calls.get(toolCallId) !== 'started') count('asked again')
    this.#calls.set(toolCallId, 'asked')
    const toolInput = `input-${this.#name()}`
    this.#asked.set(toolCallId, toolInput)
    const path = chance.oneIn(2) ? '/a/.git/config' : '/a/file'
    const edits = { items: [{ after: { uri: `file://${path}`, content: { uri: 'x:/y' } } }] }
    const options = [
      { id: 'yes', label: 'Yes', kind: 'approve' as const },
      { id: 'no', label: 'No', kind: 'deny' as const },
    ]
    return {
      type: 'chat/toolCallReady',
      toolCallId,
      invocationMessage: toolInput,
      toolInput,
      ...(chance.oneIn(2) && { editable: true }),
      ...(chance.oneIn(4) && { edits }),
      ...(chance.oneIn(6) && { options }),
      ...(chance.oneIn(6) && { confirmed: chance.pick(['not-needed', 'setting', 'user-action'] as const) }),
    } as AgentAction
  }

  /** Waits until users or a client have decided on one of the agent's calls, and goes on with this call. */
  async #wait(chance: Chance): Promise<AgentAction> {
    const decided = (state: ChatState) => {
      const waiting = [...this.#calls].filter(([, stage]) => stage === 'asked' || stage === 'shown')
      return waiting.find(([id]) => isDecided(callIn(state, id), this.#asked.get(id)))?.[0]
    }
    const state = await this.#chat.when((each) => decided(each) !== undefined)
    const id = decided(state) ?? ''
    const call = callIn(state, id)
    if (call?.status !== 'running') return this.#forget(id)
    if (this.#carriedOut.has(id)) return this.#finish(id, chance)
    // Nobody has approved this call, so the agent mostly finishes it without carrying it out.
    if (call.confirmed === 'not-needed' && !chance.oneIn(4)) return this.#finish(id, chance)
    return this.#carryOut(id, typeof call.toolInput === 'string' ? call.toolInput : '')
  }

  async #carryOut(toolCallId: string, input: string): Promise<AgentAction> {
    if (this.#carriedOut.has(toolCallId)) return this.#forget(toolCallId)
    try {
      const { done } = await this.#chat.run({ toolCallId, line: `${this.#chat.uri} ${toolCallId} ${input}` })
      this.#carriedOut.set(toolCallId, done)
    } catch (error) {
      if (!(error instanceof TurnFailed)) throw error
      count(`not done: ${error.errorType}`)
      // The host refused to run the call, so the agent may ask for it again. After any other error the call counts as
      // carried out, and the agent does not try it again.
      if (error.errorType === 'permission') return output(this.#name())
      this.#carriedOut.set(toolCallId, undefined)
    }
    this.#calls.set(toolCallId, 'working')
    return { type: 'chat/toolCallContentChanged', toolCallId, content: [{ type: 'text', text: input }] }
  }

  async #finish(toolCallId: string, chance: Chance): Promise<AgentAction> {
    if (chance.oneIn(2)) await this.#carriedOut.get(toolCallId)
    const shown = chance.oneIn(2)
    if (shown) this.#calls.set(toolCallId, 'shown')
    else this.#calls.delete(toolCallId)
    const result = { success: true, pastTenseMessage: 'Done' }
    return {
      type: 'chat/toolCallComplete',
      toolCallId,
      result,
      ...(shown && { requiresResultConfirmation: true }),
    }
  }

  #forget(toolCallId: string): AgentAction {
    this.#calls.delete(toolCallId)
    return output(this.#name())
  }
}

function output(name: number): AgentAction {
  return { type: 'chat/activityChanged', activity: `activity ${name}` }
}

/** Returns an action that an agent may not send. */
function forged(toolCallId: string, name: number, chance: Chance): AgentAction {
  const rule = { id: String(name), tool: chance.pick(toolNames) ?? 'run' }
  const toolCall = {
    toolCallId: `call-${name}`,
    toolName: 'run',
    displayName: 'run',
    status: 'running',
    invocationMessage: '',
    confirmed: 'user-action',
  }
  return (chance.pick([
    { type: 'chat/toolCallConfirmed', toolCallId, approved: true, confirmed: 'user-action' },
    { type: 'chat/toolCallResultConfirmed', toolCallId, approved: true },
    { type: 'chat/responsePart', part: { kind: 'toolCall', toolCall } },
    { type: 'session/configChanged', config: { 'atrium.permissions': [rule] } },
  ]) ?? output(name)) as AgentAction
}

/** Whether users and clients are done with the call, so that only the agent can act on it now. */
function isDecided(call: ToolCallState | undefined, asked: string | undefined): boolean {
  if (!call || undecided.has(call.status) || clientRunning(call) !== undefined) return false
  // If the client that shall run a tool does not have it, the call fails at its start, before the agent has asked.
  if (call.status === 'completed') return true
  return asked === undefined || call.invocationMessage === asked
}

const undecided = new Set<string>(['streaming', 'pending-confirmation', 'pending-result-confirmation'])

/**
 * The stage of each call when a turn is resumed, by the status of the call. A running call may have been abandoned, so
 * it is back at `asked`.
 */
const stages = new Map<string, Stage>([
  ['streaming', 'started'],
  ['pending-confirmation', 'asked'],
  ['running', 'asked'],
  ['pending-result-confirmation', 'shown'],
])
