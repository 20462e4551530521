import type { JsonObject } from '@atrium/protocol/json'
import type { McpAppCapabilities, McpServerState } from '@atrium/protocol/session/customization'
import type { ToolDefinition } from '@atrium/protocol/session/state'
import type {
  McpCall,
  McpResult,
  McpServer,
  McpServerConfig,
  McpServers,
  McpUser,
} from '../../src/ports/mcp.ts'

type Run = (tool: string, input: object, call: McpCall) => Promise<McpResult>

/** MCP servers in memory. Each has these tools, and runs calls with this function. */
export class FakeMcp implements McpServers {
  readonly opened: { readonly config: McpServerConfig; readonly user: McpUser; closed: boolean }[] = []
  readonly calls: { readonly tool: string; readonly input: object }[] = []
  /** If true, no server becomes ready. */
  hangs = false
  /** The capabilities that the servers offer to clients, and their answers to requests of clients. */
  served: McpAppCapabilities | undefined
  answer: (method: string, params: JsonObject) => JsonObject | Promise<JsonObject> = () => ({})
  readonly #tools: readonly ToolDefinition[]
  readonly #run: Run

  constructor(tools: readonly ToolDefinition[], run: Run) {
    this.#tools = tools
    this.#run = run
  }

  open(config: McpServerConfig, user: McpUser): McpServer {
    const use = { config, user, closed: false }
    this.opened.push(use)
    let state: McpServerState = { kind: 'stopped' }
    const set = (next: McpServerState) => {
      state = next
      user.changed(next, this.#tools)
    }
    const served = () => this.served
    const tools = () => (state.kind === 'ready' ? this.#tools : [])
    return {
      get state() {
        return state
      },
      get tools() {
        return tools()
      },
      lastWords: [],
      get serves() {
        return state.kind === 'ready' ? served() : undefined
      },
      request: async (method, params) => this.answer(method, params),
      start: async () => {
        if (state.kind === 'ready') return
        set({ kind: 'starting' })
        if (this.hangs) await new Promise(() => {})
        set({ kind: 'ready' })
      },
      call: (tool, input, call) => {
        this.calls.push({ tool, input })
        return this.#run(tool, input, call)
      },
      stop: () => set({ kind: 'stopped' }),
      close: () => {
        use.closed = true
      },
    }
  }

  async close(): Promise<void> {}
}
