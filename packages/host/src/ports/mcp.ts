import type { Uri } from '@atrium/protocol/channel'
import type { ChatInputAnswer, ChatInputRequest, ChatInputResponse } from '@atrium/protocol/chat/request'
import type { ToolCallResult } from '@atrium/protocol/chat/tool'
import type { McpAuthRequirement, OAuthClient } from '@atrium/protocol/common/auth'
import type { JsonObject } from '@atrium/protocol/json'
import type { McpAppCapabilities, McpServerState } from '@atrium/protocol/session/customization'
import type { ToolDefinition } from '@atrium/protocol/session/state'

/** The way to reach an MCP server: a program that the host starts, or a URL. */
export type McpServerConfig = McpCommand | McpUrl

export interface McpCommand {
  readonly command: string
  readonly args?: readonly string[]
  readonly env?: { readonly [name: string]: string }
  /** The working directory. Absent: the home folder. */
  readonly cwd?: string
}

export interface McpUrl {
  readonly url: string
  readonly headers?: { readonly [name: string]: string }
  /** The transport. Absent: `http`, or `sse` if the server does not support `http`. */
  readonly type?: 'http' | 'sse'
  /** The client that was registered by hand at the authorization server of the server. Absent: the host registers itself. */
  readonly oauthClient?: OAuthClient
}

/** The MCP servers that the host uses as a client. Every adapter passes the suite in `mcp.contract.ts`. */
export interface McpServers {
  /**
   * Opens a server for one session, without starting it. Sessions with equal configurations, principals and consents
   * share one process or connection. A server that speaks an older version of MCP is not shared, because its
   * questions do not name the session that they are for.
   */
  open(config: McpServerConfig, user: McpUser): McpServer
  /** Ends all servers. Resolves when no process is left. */
  close(): Promise<void>
}

/** The session that uses a server, and the principal that it acts for. */
export interface McpUser {
  readonly session: Uri
  /** Sessions of different principals share no server. */
  readonly principal: string
  /** The hash of the programs that a person agreed to run. Sessions with different hashes share no server. */
  readonly consent: string
  /** The user's token for a resource. The server asks for it before each use, and sends it only to that resource. */
  token(resource: string): string | undefined
  /** Called when the state or the tools of the server have changed. */
  changed(state: McpServerState, tools: readonly ToolDefinition[]): void
}

/** A use of a server by one session. */
export interface McpServer {
  readonly state: McpServerState
  /** The tools that the server last listed. A server that is stopped because it was idle keeps them. */
  readonly tools: readonly ToolDefinition[]
  /** The last lines of diagnostic output, for troubleshooting, without secrets. */
  readonly lastWords: readonly string[]
  /** Starts the server, and resolves when it is ready. Rejects with an `McpFailed`. */
  start(): Promise<void>
  /** Calls a tool, and starts the server if it does not run. Rejects with an `McpFailed` if there is no result. */
  call(tool: string, input: JsonObject, call: McpCall): Promise<McpResult>
  /** What `request` serves while the server is ready (P12). Undefined while it is not. */
  readonly serves: McpAppCapabilities | undefined
  /**
   * Sends a request of a client to the server as it is, and resolves with the result as it is. A question of the server during a call is
   * answered with `cancel`. Rejects with an `McpFailed`.
   */
  request(method: string, params: JsonObject): Promise<JsonObject>
  /** Stops the server, unless other sessions use it. */
  stop(): void
  /** Ends this use. */
  close(): void
}

/** What a call needs from its caller. */
export interface McpCall {
  readonly signal: AbortSignal
  progress(progress: McpProgress): void
  /** Asks a person the questions of the server. */
  elicit(request: McpQuestions): Promise<McpAnswers>
}

export interface McpProgress {
  /** From 0 to 1. Absent if the server does not know how much there is to do. */
  readonly fraction?: number
  readonly message?: string
}

export type McpQuestions = Pick<ChatInputRequest, 'message' | 'questions'>

export interface McpAnswers {
  readonly response: ChatInputResponse
  /** The answers by question id. */
  readonly answers?: { readonly [id: string]: ChatInputAnswer }
}

/** The result of a call. `success` is false if the tool itself says that it failed. */
export type McpResult = Omit<ToolCallResult, 'pastTenseMessage'>

/** A failure of a server, or of one call. The message is a sentence for users, without secrets. */
export class McpFailed extends Error {
  override readonly name: string = 'McpFailed'
}

/** A server, or one call, needs an authorization. After it was given, `start` or `call` may be tried again. */
export class McpAuthRequired extends McpFailed {
  override readonly name = 'McpAuthRequired'
  readonly requirement: McpAuthRequirement

  constructor(message: string, requirement: McpAuthRequirement) {
    super(message)
    this.requirement = requirement
  }
}

/** The MCP server has answered a request with an error. */
export class McpRefused extends McpFailed {
  override readonly name = 'McpRefused'
  /** The JSON-RPC error code in the server's answer. */
  readonly code: number

  constructor(message: string, code: number) {
    super(message)
    this.code = code
  }
}
