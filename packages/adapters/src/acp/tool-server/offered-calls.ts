import type { CallToolResult } from '@modelcontextprotocol/server'
import type { AgentAction, Chat, OfferedTool } from '@atrium/host/ports/agent'
import { callsOf } from '@atrium/protocol/chat/calls'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import type { JsonObject } from '@atrium/protocol/json'
import { failure } from './endpoint.ts'
import type { ServedTool, ServedTools } from './endpoint.ts'
import { callCommentTool, commentTools, isCommentTool } from './comment-tools.ts'
import { resultOf } from './result.ts'

/** The turn in which an agent calls offered tools: tools of the session's clients or MCP servers. */
export interface CallingTurn {
  readonly chat: Chat
  newId(): string
  write(action: AgentAction): void
  /** Called before each call. Resolves when everything that the agent did before the call is written. */
  begins(tool: ServedTool): Promise<void>
}

/**
 * The calls of an ACP agent to the host's MCP server in one turn: of offered tools, which clients or MCP servers of the session
 * provide, and of the host's own tools for comments.
 */
export class OfferedCalls implements ServedTools {
  readonly #turn: CallingTurn
  /**
   * Calls that an earlier agent process made in this turn. That process may have ended before it got the result, so
   * the agent may make the call again. The agent then gets the result of the earlier call, and the tool does not run
   * twice (I6).
   */
  readonly #earlier: ToolCallState[]

  constructor(turn: CallingTurn) {
    this.#turn = turn
    const known = callsOf(turn.chat.state.activeTurn?.responseParts)
    this.#earlier = known.filter(({ contributor, status, toolName }) =>
      contributor ? status !== 'streaming' : isCommentTool(toolName) && ended.has(status),
    )
  }

  list(): readonly ServedTool[] {
    const { chat } = this.#turn
    return [...chat.tools.list(), ...commentTools(chat)]
  }

  async call(name: string, input: JsonObject): Promise<CallToolResult> {
    const { chat } = this.#turn
    const tools = this.list()
    const served = tools.find((each) => each.name === name)
    if (!served) return failure(unknownTool(name, tools))
    try {
      await this.#turn.begins(served)
      const tool = chat.tools.list().find((each) => each.name === name)
      const toolCallId = tool ? this.#callOffered(tool, input) : await this.#callOwn(served, input)
      return await resultOf(await chat.tools.ended(toolCallId), chat)
    } catch {
      return failure('The turn is over, and the result of the call is not known.')
    }
  }

  #callOffered(tool: OfferedTool, input: JsonObject): string {
    const text = JSON.stringify(input)
    return this.#takeEarlier(tool, text)?.toolCallId ?? this.#start(tool, text)
  }

  async #callOwn(tool: ServedTool, input: JsonObject): Promise<string> {
    const earlier = this.#takeEarlier(tool, JSON.stringify(input))
    if (earlier) return earlier.toolCallId
    const { chat, newId, write } = this.#turn
    const toolCallId = newId()
    for await (const action of callCommentTool(chat, tool.name, toolCallId, input)) write(action)
    return toolCallId
  }

  #takeEarlier(
    { definition, contributor }: ServedTool & Partial<OfferedTool>,
    input: string,
  ): ToolCallState | undefined {
    const isSame = (call: ToolCallState) =>
      call.toolName === definition.name &&
      'toolInput' in call &&
      call.toolInput === input &&
      JSON.stringify(call.contributor) === JSON.stringify(contributor)
    const index = this.#earlier.findIndex(isSame)
    return index < 0 ? undefined : this.#earlier.splice(index, 1)[0]
  }

  #start({ definition, displayName, contributor, asks }: OfferedTool, input: string): string {
    const { write } = this.#turn
    const toolCallId = this.#turn.newId()
    const labels = { toolName: definition.name, displayName, intention: `Call ${displayName}` }
    write({ type: 'chat/toolCallStart', toolCallId, ...labels, contributor })
    write({ type: 'chat/toolCallDelta', toolCallId, content: input })
    const invocationMessage = { markdown: `Call \`${displayName}\`` }
    const confirmed = asks ? {} : { confirmed: 'not-needed' as const }
    write({ type: 'chat/toolCallReady', toolCallId, invocationMessage, toolInput: input, ...confirmed })
    return toolCallId
  }
}

const ended = new Set<ToolCallState['status']>(['completed', 'cancelled'])

function unknownTool(name: string, tools: readonly ServedTool[]): string {
  const names = tools.map((each) => each.name).join(', ')
  return `There is no tool ${JSON.stringify(name.slice(0, 100))}. The tools are: ${names === '' ? 'none' : names}.`
}
