import type { CallToolResult, McpHttpHandler, Tool } from '@modelcontextprotocol/server'
import type { OfferedTool } from '@atrium/host/ports/agent'
import { isJsonObject } from '@atrium/protocol/json'
import type { JsonObject } from '@atrium/protocol/json'

/** A tool that an agent can call by the host's MCP server. */
export type ServedTool = Pick<OfferedTool, 'name' | 'definition'>

/** The tools that a turn serves to the agent of its chat. */
export interface ServedTools {
  list(): readonly ServedTool[]
  call(name: string, input: JsonObject): Promise<CallToolResult>
}

/**
 * The MCP endpoint of one chat. It lists the tools of the chat's newest turn, and calls them while that turn runs. It speaks
 * the MCP revision of 2026, and older revisions in their form without sessions. In that form it cannot announce a change of the
 * list.
 */
export class ToolEndpoint {
  readonly token: string
  /** The last part of the path of the endpoint's URL. */
  readonly id: string
  readonly #version: string
  #tools: ServedTools | undefined
  #isRunning = false
  #handler: Promise<McpHttpHandler> | undefined
  #listed = ''

  constructor(token: string, id: string, version: string) {
    this.token = token
    this.id = id
    this.#version = version
  }

  async fetch(request: Request): Promise<Response> {
    return (await (this.#handler ??= this.#createHandler())).fetch(request)
  }

  /** Serves the tools of a turn. The caller must call the returned function when the turn ends. */
  serve(tools: ServedTools): () => void {
    this.#tools = tools
    this.#isRunning = true
    const listed = JSON.stringify(this.#list())
    // This tells an agent that has read the list in an earlier turn to read it again.
    if (listed !== this.#listed) void this.#handler?.then(({ notify }) => notify.toolsChanged())
    this.#listed = listed
    return () => {
      if (this.#tools === tools) this.#isRunning = false
    }
  }

  close(): void {
    this.#isRunning = false
    void this.#handler?.then((handler) => handler.close())
  }

  async #createHandler(): Promise<McpHttpHandler> {
    const { createMcpHandler, Server } = await import('@modelcontextprotocol/server')
    return createMcpHandler(() => {
      const info = { name: 'atrium', title: 'Tools of the session', version: this.#version }
      const server = new Server(info, { capabilities: { tools: { listChanged: true } } })
      server.setRequestHandler('tools/list', () => ({ tools: [...this.#list()] }))
      server.setRequestHandler('tools/call', ({ params }) =>
        this.#call(params.name, isJsonObject(params.arguments) ? params.arguments : {}),
      )
      return server
    })
  }

  #list(): readonly Tool[] {
    return (this.#tools?.list() ?? []).map(({ name, definition }) => {
      const { title, description, inputSchema, annotations } = definition
      return {
        name,
        ...(title !== undefined && { title }),
        ...(description !== undefined && { description }),
        inputSchema: { ...inputSchema, type: 'object' },
        ...(annotations && { annotations }),
      }
    })
  }

  async #call(name: string, input: JsonObject): Promise<CallToolResult> {
    if (this.#tools && this.#isRunning) return this.#tools.call(name, input)
    return failure('No turn of this chat is running, so its tools cannot be called.')
  }
}

export function failure(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true }
}
