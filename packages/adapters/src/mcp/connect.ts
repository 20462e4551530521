import { homedir } from 'node:os'
import type { Transport } from '@modelcontextprotocol/client'
import type { McpCommand, McpServerConfig, McpUrl } from '@atrium/host/ports/mcp'
import type { Variables } from '../process/environment.ts'
import { programEnvironment } from '../process/program-environment.ts'
import type { ProcessOptions } from '../process/line-process.ts'
import { withTimeout } from '../process/timeout.ts'
import { McpConnection } from './connection.ts'
import { limitsOf } from './context.ts'
import type { Era, McpContext } from './context.ts'
import { ProcessEnded } from './failure.ts'
import { answerLostRequests, serverFetch } from './http-fetch.ts'
import type { Challenge } from './http-fetch.ts'
import { loadLibrary, never } from './library.ts'
import type { Library } from './library.ts'
import { secretsOf } from './credentials.ts'
import { StdioTransport } from './stdio-transport.ts'

export interface ConnectOptions {
  readonly context: McpContext
  /** Whether the server is `modern` or `legacy`, if this is known from an earlier connection. */
  readonly era: Era | undefined
  /** The token for the resource of the server. */
  readonly token: () => string | undefined
  readonly onChallenge: (challenge: Challenge) => void
  /** Called when the tools have changed. */
  readonly onTools: () => void
  /** Called with the reason, as a clause, when the connection has ended by itself. */
  readonly onEnd: (reason: string) => void
  /** Called for each process, with a function that returns its diagnostic lines. */
  readonly onDiagnostics: (lines: () => readonly string[]) => void
  /** Ends the attempt when it is aborted. */
  readonly signal: AbortSignal
}

/** Connects to a server. Resolves when the server has listed its tools. A failed attempt leaves no process. */
export async function connect(config: McpServerConfig, options: ConnectOptions): Promise<McpConnection> {
  const library = await loadLibrary()
  options.signal.throwIfAborted()
  return 'command' in config ? connectCommand(config, options, library) : connectUrl(config, options, library)
}

async function connectCommand(
  config: McpCommand,
  options: ConnectOptions,
  library: Library,
): Promise<McpConnection> {
  const { context, era } = options
  const start = (known: Era | undefined) => {
    const transport = new StdioTransport(processOptions(config, context), context.watchdog, library)
    options.onDiagnostics(() => transport.lastDiagnostics)
    return new Attempt(transport, { ...options, era: known }, library).run()
  }
  try {
    return await start(era)
  } catch (error) {
    // Some legacy servers end when their first message is not `initialize`. Such a server is started again as
    // `legacy`.
    const mayBeLegacy = error instanceof ProcessEnded && error.hadStarted && era === undefined
    if (!mayBeLegacy || options.signal.aborted) throw error
    return start('legacy')
  }
}

async function connectUrl(config: McpUrl, options: ConnectOptions, library: Library): Promise<McpConnection> {
  const url = new URL(config.url)
  const { token, onChallenge } = options
  const maxMessageLength = limitsOf(options.context).mcpMessageLength
  const fetch = serverFetch({ server: url, library, maxMessageLength, token, onChallenge })
  const settings = { fetch, requestInit: { headers: { ...config.headers } } }
  const sse = () =>
    new Attempt(new library.SSEClientTransport(url, settings), { ...options, era: 'legacy' }, library).run()
  if (config.type === 'sse') return sse()
  const http = new library.StreamableHTTPClientTransport(url, { ...settings, onInsufficientScope: 'throw' })
  answerLostRequests(http)
  try {
    return await new Attempt(http, options, library).run()
  } catch (error) {
    // A server that knows only the older HTTP transport refuses the first request like this.
    const isRefused =
      error instanceof library.SdkHttpError && [400, 404, 405].includes(error.data.status ?? 0)
    if (!isRefused || config.type === 'http' || options.signal.aborted) throw error
    return sse().catch(() => Promise.reject(error))
  }
}

/** One attempt to connect by one transport. */
class Attempt {
  readonly #transport: Transport
  readonly #options: ConnectOptions
  readonly #library: Library
  #connection: McpConnection | undefined
  #isEnding = false

  constructor(transport: Transport, options: ConnectOptions, library: Library) {
    this.#transport = transport
    this.#options = options
    this.#library = library
  }

  async run(): Promise<McpConnection> {
    const { context, era, signal } = this.#options
    const end = () => void this.#end()
    signal.addEventListener('abort', end)
    try {
      const client = this.#client()
      const prior = era === 'legacy' ? { prior: { kind: 'legacy' as const } } : {}
      await client.connect(this.#transport, { timeout: never, ...prior })
      const connection = new McpConnection(client, {
        library: this.#library,
        context,
        limits: limitsOf(context),
        end: () => this.#end(),
        onTools: this.#options.onTools,
      })
      await connection.readTools()
      signal.throwIfAborted()
      this.#connection = connection
      return connection
    } catch (error) {
      const { exitReason, pid } = this.#process ?? {}
      await this.#end()
      // The reason why a process has ended says more than the library, which only sees a closed pipe.
      throw exitReason === undefined ? error : new ProcessEnded(exitReason, pid !== null)
    } finally {
      signal.removeEventListener('abort', end)
    }
  }

  get #process(): StdioTransport | undefined {
    return this.#transport instanceof StdioTransport ? this.#transport : undefined
  }

  #client() {
    const { context } = this.#options
    const client = new this.#library.Client(
      { name: 'atrium', title: 'Atrium', version: context.version },
      {
        capabilities: { elicitation: { form: {} } },
        versionNegotiation: { mode: 'auto', probe: { timeoutMs: limitsOf(context).mcpStartMs / 2 } },
        inputRequired: { autoFulfill: false },
        listChanged: {
          tools: { autoRefresh: false, debounceMs: 0, onChanged: () => this.#connection?.toolsChanged() },
        },
      },
    )
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      const { action, content } = (await this.#connection?.answer(params)) ?? { action: 'cancel' as const }
      return { action, ...(content && { content: { ...content } }) }
    })
    // Other errors need no reaction: a message that is no answer, or an answer that nobody waits for.
    client.onerror = (error) => {
      if (error instanceof this.#library.SseError) this.#lost()
    }
    client.onclose = () => this.#lost()
    return client
  }

  #lost(): void {
    if (this.#connection && !this.#isEnding)
      this.#options.onEnd(this.#process?.exitReason ?? 'the connection broke')
  }

  /** Closes the transport. Resolves when no process is left. */
  async #end(): Promise<void> {
    this.#isEnding = true
    const { later } = this.#options.context
    const { StreamableHTTPClientTransport } = this.#library
    if (this.#transport instanceof StreamableHTTPClientTransport)
      await withTimeout(later, farewellMs, this.#transport.terminateSession(), () => {}).catch(() => {})
    await this.#transport.close().catch(() => {})
  }
}

/** Puts the socket of the user's SSH agent into the variables of a config that asks for it (F5.1). */
function withSshAgent(env: Variables, host: Variables): Variables {
  const { SSH_AUTH_SOCK: wanted } = env
  return wanted === '${SSH_AUTH_SOCK}' ? { ...env, SSH_AUTH_SOCK: host['SSH_AUTH_SOCK'] } : env
}

function processOptions(config: McpCommand, context: McpContext): ProcessOptions {
  const { command, args = [], env = {}, cwd = homedir() } = config
  const { environment, mark } = context
  return {
    command,
    args,
    cwd,
    environment: programEnvironment(environment, {
      own: /^$/,
      configured: withSshAgent(env, environment),
      mark,
    }),
    otherSecrets: secretsOf(config),
    maxMemory,
    maxLineLength: limitsOf(context).mcpMessageLength,
    missingHint: 'install it, or correct the command of the MCP server',
  }
}

const maxMemory = 4 * 2 ** 30
const farewellMs = 1000
