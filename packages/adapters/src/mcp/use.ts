import { McpFailed } from '@atrium/host/ports/mcp'
import type { McpCall, McpResult, McpServer, McpServerConfig, McpUser } from '@atrium/host/ports/mcp'
import type { JsonObject } from '@atrium/protocol/json'
import type { McpAppCapabilities, McpServerState } from '@atrium/protocol/session/customization'
import type { ToolDefinition } from '@atrium/protocol/session/state'
import type { McpConnection } from './connection.ts'
import { noTools } from './pooled-server.ts'
import type { PooledServer } from './pooled-server.ts'

/** What a `ServerUse` needs from the pool. */
export interface UsePool {
  /** Called when the use no longer wants its server to run. */
  released(use: ServerUse): void
  closed(use: ServerUse): void
}

/** A use of a server of the pool by one session. */
export class ServerUse implements McpServer {
  readonly config: McpServerConfig
  readonly user: McpUser
  /** Whether this use wants the server to run. */
  isWanted = false
  readonly #pool: UsePool
  #server: PooledServer
  #isClosed = false
  #told: { readonly state: McpServerState; readonly tools: readonly ToolDefinition[] }

  constructor(config: McpServerConfig, user: McpUser, server: PooledServer, pool: UsePool) {
    this.config = config
    this.user = user
    this.#server = server
    this.#pool = pool
    this.#told = { state: this.state, tools: this.tools }
  }

  get server(): PooledServer {
    return this.#server
  }

  get state(): McpServerState {
    return this.isWanted ? this.#server.state : { kind: 'stopped' }
  }

  get tools(): readonly ToolDefinition[] {
    return this.isWanted ? this.#server.tools : noTools
  }

  get lastWords(): readonly string[] {
    return this.#server.lastWords
  }

  async start(): Promise<void> {
    await this.#connected(true)
  }

  async call(tool: string, input: JsonObject, call: McpCall): Promise<McpResult> {
    const connection = await cancellable(this.#connected(false), call.signal)
    return this.#server.call(connection, tool, input, call)
  }

  get serves(): McpAppCapabilities | undefined {
    return this.isWanted ? this.#server.serves : undefined
  }

  async request(method: string, params: JsonObject): Promise<JsonObject> {
    return this.#server.request(await this.#connected(false), method, params)
  }

  stop(): void {
    if (!this.isWanted) return
    this.isWanted = false
    this.#pool.released(this)
    this.tell()
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.isWanted = false
    this.#pool.closed(this)
  }

  /**
   * Gives this use a server of its own. Called when the shared server turns out to be a legacy server, which only one
   * session may use.
   */
  move(server: PooledServer): void {
    this.#server = server
  }

  /** Tells the session of this use if the state or the tools have changed. */
  tell(): void {
    const { state, tools } = this
    const isSameState =
      state === this.#told.state || (state.kind === this.#told.state.kind && !withDetails.has(state.kind))
    const isSame = isSameState && tools === this.#told.tools
    if (isSame || this.#isClosed) return
    this.#told = { state, tools }
    this.user.changed(state, tools)
  }

  async #connected(hurry: boolean): Promise<McpConnection> {
    if (this.#isClosed) throw new McpFailed('The MCP server is no longer in use.')
    this.isWanted = true
    this.tell()
    for (;;) {
      const server = this.#server
      const connection = await server.connected(hurry)
      // During the wait, the server may have turned out to be a legacy server that another session keeps. Then this
      // use has another server, and waits for that one.
      if (server === this.#server) return connection
    }
  }
}

/** Waits for a server, but not longer than the caller wants. */
function cancellable<T>(task: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = () => reject(new McpFailed('The call was cancelled.'))
    signal.addEventListener('abort', cancel)
    if (signal.aborted) cancel()
    task.then(resolve, reject).finally(() => signal.removeEventListener('abort', cancel))
  })
}

/** The kinds of states that have details besides their kind. */
const withDetails: ReadonlySet<string> = new Set(['error', 'authRequired'])
