import type { CallToolResult } from '@modelcontextprotocol/server'
import type { AgentAction, Chat, OfferedTool } from '@atrium/host/ports/agent'
import { callsOf } from '@atrium/protocol/chat/calls'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import type { JsonObject } from '@atrium/protocol/json'
import { failure } from './endpoint.ts'
import type { ServedTools } from './endpoint.ts'
import { resultOf } from './result.ts'

/** The turn in which an agent calls offered tools: tools of the session's clients or MCP servers. */
export interface CallingTurn {
  readonly chat: Chat
  newId(): string
  write(action: AgentAction): void
  /** Called before each call. Resolves when everything that the agent did before the call is written. */
  begins(tool: OfferedTool): Promise<void>
}

/** The calls of offered tools, which clients or MCP servers of the session provide, in one turn of an ACP agent. */
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
    this.#earlier = known.filter(({ contributor, status }) => contributor && status !== 'streaming')
  }

  list(): readonly OfferedTool[] {
    return this.#turn.chat.tools.list()
  }

  async call(name: string, input: JsonObject): Promise<CallToolResult> {
    const { chat } = this.#turn
    const tools = this.list()
    const tool = tools.find((each) => each.name === name)
    if (!tool) return failure(unknownTool(name, tools))
    try {
      await this.#turn.begins(tool)
      const text = JSON.stringify(input)
      const toolCallId = this.#takeEarlier(tool, text)?.toolCallId ?? this.#start(tool, text)
      return await resultOf(await chat.tools.ended(toolCallId), chat)
    } catch {
      return failure('The turn is over, and the result of the call is not known.')
    }
  }

  #takeEarlier({ definition, contributor }: OfferedTool, input: string): ToolCallState | undefined {
    const isSame = (call: ToolCallState) =>
      call.toolName === definition.name &&
      'toolInput' in call &&
      call.toolInput === input &&
      JSON.stringify(call.contributor) === JSON.stringify(contributor)
    const index = this.#earlier.findIndex(isSame)
    return index < 0 ? undefined : this.#earlier.splice(index, 1)[0]
  }

  #start({ name, definition, contributor, asks }: OfferedTool, input: string): string {
    const { write } = this.#turn
    const toolCallId = this.#turn.newId()
    const displayName = definition.title ?? name
    const labels = { toolName: definition.name, displayName, intention: `Call ${displayName}` }
    write({ type: 'chat/toolCallStart', toolCallId, ...labels, contributor })
    write({ type: 'chat/toolCallDelta', toolCallId, content: input })
    const invocationMessage = { markdown: `Call \`${name}\`` }
    const confirmed = asks ? {} : { confirmed: 'not-needed' as const }
    write({ type: 'chat/toolCallReady', toolCallId, invocationMessage, toolInput: input, ...confirmed })
    return toolCallId
  }
}

function unknownTool(name: string, tools: readonly OfferedTool[]): string {
  const names = tools.map((each) => each.name).join(', ')
  return `There is no tool ${JSON.stringify(name.slice(0, 100))}. The tools are: ${names === '' ? 'none' : names}.`
}
