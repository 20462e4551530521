import type { Chat, RunningCommand, AgentAction } from '@atrium/host/ports/agent'
import { TurnFailed } from '@atrium/host/ports/agent'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { Chance } from '../chance.ts'
import { callIn, callsOf, lenderOf } from './call.ts'
import { met } from './tally.ts'

/** How far an agent is with a call, as far as it knows. */
type Stage = 'started' | 'asked' | 'working' | 'shown'

export const toolNames = ['read', 'write', 'run'] as const

/**
 * What one turn's agent does with tools. It starts calls, asks, asks again, waits for people and for clients that lend tools, works,
 * and shows results; now and then it does not wait, or says in their place what people decide. Whichever life began a call, it
 * goes on with it; and it works for each once.
 */
export class Tools {
  readonly #chat: Chat
  readonly #name: () => number
  readonly #calls = new Map<string, Stage>()
  /** What it asked for last: until that is told, what it sees is old. */
  readonly #asked = new Map<string, string>()
  readonly #worked = new Map<string, RunningCommand['done'] | undefined>()

  constructor(chat: Chat, name: () => number) {
    this.#chat = chat
    this.#name = name
    for (const { toolCallId, status } of callsOf(chat.state.activeTurn)) {
      const stage = stages.get(status)
      if (stage) this.#calls.set(toolCallId, stage)
    }
  }

  /** What to do is decided when it is done: what it waited for before may have changed everything. */
  line(chance: Chance): () => Promise<IteratorResult<AgentAction>> {
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
    // It does not wait for anybody.
    if (stage === 'asked' && chance.oneIn(8)) return this.#work(id, 'rash')
    return this.#wait(chance)
  }

  #start(chance: Chance): AgentAction {
    const toolCallId = `call-${this.#name()}`
    this.#calls.set(toolCallId, 'started')
    const toolName = chance.pick(toolNames) ?? 'run'
    const lender = chance.oneIn(2) ? this.#lender(chance) : undefined
    const contributor =
      lender === undefined ? {} : { contributor: { kind: 'client' as const, clientId: lender } }
    return { type: 'chat/toolCallStart', toolCallId, toolName, displayName: toolName, ...contributor }
  }

  /** Mostly one that takes part. */
  #lender(chance: Chance): string | undefined {
    const { activeClients } = this.#chat.session
    return chance.oneIn(4) ? `c${chance.below(4)}` : chance.pick(activeClients)?.clientId
  }

  /** Or says that nobody need be asked: then nothing is done for it, unless by a client. */
  #ask(toolCallId: string, chance: Chance): AgentAction {
    if (this.#calls.get(toolCallId) !== 'started') met('asked again')
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

  /** Waits until people, or a client, have decided about one of its calls, and goes on with what they made of it. */
  async #wait(chance: Chance): Promise<AgentAction> {
    const decided = (state: ChatState) => {
      const waiting = [...this.#calls].filter(([, stage]) => stage === 'asked' || stage === 'shown')
      return waiting.find(([id]) => isDecided(callIn(state, id), this.#asked.get(id)))?.[0]
    }
    const state = await this.#chat.when((each) => decided(each) !== undefined)
    const id = decided(state) ?? ''
    const call = callIn(state, id)
    if (call?.status !== 'running') return this.#over(id)
    if (this.#worked.has(id)) return this.#finish(id, chance)
    // Nobody was asked, so there is nothing that it could do.
    if (call.confirmed === 'not-needed' && !chance.oneIn(4)) return this.#finish(id, chance)
    return this.#work(id, typeof call.toolInput === 'string' ? call.toolInput : '')
  }

  async #work(toolCallId: string, input: string): Promise<AgentAction> {
    if (this.#worked.has(toolCallId)) return this.#over(toolCallId)
    try {
      const { done } = await this.#chat.run({ toolCallId, line: `${this.#chat.uri} ${toolCallId} ${input}` })
      this.#worked.set(toolCallId, done)
    } catch (error) {
      if (!(error instanceof TurnFailed)) throw error
      met(`not done: ${error.errorType}`)
      // What was refused may be asked for; what was tried is not tried again.
      if (error.errorType === 'permission') return said(this.#name())
      this.#worked.set(toolCallId, undefined)
    }
    this.#calls.set(toolCallId, 'working')
    return { type: 'chat/toolCallContentChanged', toolCallId, content: [{ type: 'text', text: input }] }
  }

  async #finish(toolCallId: string, chance: Chance): Promise<AgentAction> {
    if (chance.oneIn(2)) await this.#worked.get(toolCallId)
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

  #over(toolCallId: string): AgentAction {
    this.#calls.delete(toolCallId)
    return said(this.#name())
  }
}

function said(name: number): AgentAction {
  return { type: 'chat/activityChanged', activity: `activity ${name}` }
}

/** What is not an agent's to decide. */
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
  ]) ?? said(name)) as AgentAction
}

/** Nobody but its agent has to do with it now. */
function isDecided(call: ToolCallState | undefined, asked: string | undefined): boolean {
  if (!call || undecided.has(call.status) || lenderOf(call) !== undefined) return false
  return asked === undefined || call.invocationMessage === asked
}

const undecided = new Set<string>(['streaming', 'pending-confirmation', 'pending-result-confirmation'])

/** Where somebody who takes up a turn finds its calls. One that runs may be one that nobody works for. */
const stages = new Map<string, Stage>([
  ['streaming', 'started'],
  ['pending-confirmation', 'asked'],
  ['running', 'asked'],
  ['pending-result-confirmation', 'shown'],
])
