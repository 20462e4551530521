import { hooksOf } from '../../catalog/machine.ts'
import { callIn } from '@atrium/protocol/chat/calls'
import { customizationsOf } from '../../catalog/customizing.ts'
import { nothing } from '../../catalog/hook-event.ts'
import type { HookEvent, HookResult } from '../../catalog/hook-event.ts'
import { TurnFailed } from '../../ports/agent.ts'
import type { AgentAction } from '../../ports/agent.ts'
import type { RunningTurn } from './running-turn.ts'
import { parseAgentAction } from './agent-output.ts'

type Ready = Extract<AgentAction, { readonly type: 'chat/toolCallReady' }>
type Complete = Extract<AgentAction, { readonly type: 'chat/toolCallComplete' }>

/**
 * The hooks of one turn. Each method returns undefined if there is nothing to wait for, so that a turn without hooks does not
 * wait.
 */
export class TurnHooks {
  readonly #turn: RunningTurn
  readonly #publish: (output: AgentAction) => void
  #context: readonly string[] = []

  constructor(turn: RunningTurn, publish: (output: AgentAction) => void) {
    this.#turn = turn
    this.#publish = publish
  }

  /** Texts that hooks give to the agent. */
  get context(): readonly string[] {
    return this.#context
  }

  /** Runs hooks before the agent begins. A hook may refuse the message: the turn then fails with the reason. */
  begin(): Promise<void> | undefined {
    return this.#present ? this.#begin() : undefined
  }

  /**
   * Runs hooks before a tool call asks for its approval. Resolves with true if a hook has refused the call: the call is then
   * denied.
   */
  before(output: AgentAction): Promise<boolean> | undefined {
    return this.#present && output.type === 'chat/toolCallReady' ? this.#denies(output) : undefined
  }

  /** Runs hooks after the result of a tool call. */
  after(output: AgentAction): Promise<void> | undefined {
    return this.#present && output.type === 'chat/toolCallComplete' ? this.#completed(output) : undefined
  }

  /** Runs hooks before the end of the turn. */
  end(): Promise<void> | undefined {
    return this.#present ? this.#run({ name: 'Stop', detail: {} }).then(() => {}) : undefined
  }

  get #present(): boolean {
    return hooksOf(this.#turn.core) !== undefined
  }

  async #begin(): Promise<void> {
    const { chat, session } = this.#turn
    const { activeTurn, turns } = chat.head
    const isFirst = turns.length === 0 && session.head.chats.length === 1
    const started = isFirst
      ? await this.#run({ name: 'SessionStart', detail: { source: 'startup' } })
      : undefined
    const prompt = activeTurn?.message.text ?? ''
    const { blocked, context } = await this.#run({ name: 'UserPromptSubmit', detail: { prompt } })
    if (blocked !== undefined) throw new TurnFailed('hook', `A hook has refused this message: ${blocked}`)
    this.#context = [...(started?.context ?? []), ...context]
  }

  async #denies(output: Ready): Promise<boolean> {
    const { core, chat, turnId, signal } = this.#turn
    const { toolCallId } = output
    const tool = callIn(chat.head, toolCallId)?.toolName ?? ''
    const detail = { tool_name: tool, tool_input: inputOf(output.toolInput) }
    const { blocked } = await this.#run({ name: 'PreToolUse', tool, detail })
    if (blocked === undefined || signal.aborted) return false
    const { confirmed: _, ...asking } = output
    this.#turn.flushText()
    core.log.appendChecked(chat, parseAgentAction(asking, turnId).action)
    const denial = { approved: false, reason: 'denied', reasonMessage: blocked } as const
    core.log.append(chat, { type: 'chat/toolCallConfirmed', turnId, toolCallId, ...denial })
    return true
  }

  async #completed({ toolCallId, result }: Complete): Promise<void> {
    const call = callIn(this.#turn.chat.head, toolCallId)
    const tool = call?.toolName ?? ''
    const input = call && 'toolInput' in call ? inputOf(call.toolInput) : undefined
    const name = result.success ? 'PostToolUse' : 'PostToolUseFailure'
    await this.#run({ name, tool, detail: { tool_name: tool, tool_input: input, tool_response: result } })
  }

  /** Runs the hooks of an event. Those that failed are shown in the chat. */
  async #run(event: HookEvent): Promise<HookResult> {
    const { core, session, signal } = this.#turn
    const result = (await customizationsOf(core)?.runHooks(session, event, signal)) ?? nothing
    if (signal.aborted) return result
    for (const content of result.failures)
      this.#publish({ type: 'chat/responsePart', part: { kind: 'systemNotification', content } })
    return result
  }
}

/** Parses the input of a tool for a hook. An input that is not JSON stays a text. */
function inputOf(input: unknown): unknown {
  if (typeof input !== 'string') return input
  try {
    return JSON.parse(input)
  } catch {
    return input
  }
}
