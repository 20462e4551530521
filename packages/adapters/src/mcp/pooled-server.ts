import { McpAuthRequired, McpFailed } from '@atrium/host/ports/mcp'
import type { McpCall, McpResult, McpServerConfig } from '@atrium/host/ports/mcp'
import type { JsonObject } from '@atrium/protocol/json'
import type { McpAppCapabilities, McpServerState } from '@atrium/protocol/session/customization'
import type { ToolDefinition } from '@atrium/protocol/session/state'
import { visibleText } from '@atrium/protocol/text/visible'
import { withTimeout } from '../process/timeout.ts'
import { connect } from './connect.ts'
import type { McpConnection } from './connection.ts'
import { limitsOf } from './context.ts'
import type { McpLimits, PoolSide } from './context.ts'
import { Credentials } from './credentials.ts'
import { failureOf, isGone } from './failure.ts'
import { Challenge } from './http-fetch.ts'
import { RestartPauses } from './restart-pauses.ts'

export const noTools: readonly ToolDefinition[] = []

/** One server of the pool: it starts, restarts and stops, whoever uses it. */
export class PooledServer {
  state: McpServerState = { kind: 'stopped' }
  tools = noTools
  readonly #config: McpServerConfig
  readonly #pool: PoolSide
  readonly #limits: McpLimits
  readonly #credentials: Credentials
  readonly #pauses: RestartPauses
  #connection: McpConnection | undefined
  /** The attempt to connect, with the pause before a restart. */
  #connecting: Promise<McpConnection> | undefined
  /**
   * Ends the attempt. Each attempt has a controller of its own, so that an attempt notices when a newer one has
   * begun.
   */
  #abort = new AbortController()
  /** Resolves when no process of earlier attempts is left. */
  #ending: Promise<unknown> = Promise.resolve()
  #calls = 0
  #cancelIdle = () => {}
  #diagnostics: () => readonly string[] = () => []

  constructor(config: McpServerConfig, pool: PoolSide) {
    this.#config = config
    this.#pool = pool
    this.#limits = limitsOf(pool.context)
    this.#pauses = new RestartPauses(pool.context.later, this.#limits)
    this.#credentials = new Credentials(config, pool.context, (resource) => pool.token(resource))
  }

  /** Whether the server has a process or a connection, or is about to. */
  get isRunning(): boolean {
    return this.#connection !== undefined || this.#connecting !== undefined
  }

  get lastWords(): readonly string[] {
    return this.#diagnostics().map((line) => visibleText(this.#redact(line)))
  }

  /**
   * Returns the connection, and connects first if needed. Rejects with an `McpFailed`. `hurry` ends the pause before a restart.
   */
  connected(hurry: boolean): Promise<McpConnection> {
    if (this.#connection) return Promise.resolve(this.#connection)
    if (hurry) this.#pauses.hurry()
    if (this.#connecting) return this.#connecting
    this.#pauses.reset()
    return this.#begin(this.#connect())
  }

  /** The capabilities that the server offers to clients. Undefined while there is no connection. */
  get serves(): McpAppCapabilities | undefined {
    return this.#connection?.serves
  }

  call(connection: McpConnection, tool: string, input: JsonObject, call: McpCall): Promise<McpResult> {
    return this.#run(connection, () => connection.call(tool, input, call))
  }

  request(connection: McpConnection, method: string, params: JsonObject): Promise<JsonObject> {
    return this.#run(connection, () => connection.request(method, params))
  }

  async #run<R>(connection: McpConnection, run: () => Promise<R>): Promise<R> {
    this.#calls++
    this.#cancelIdle()
    try {
      return await run()
    } catch (error) {
      throw await this.#callFailure(connection, error)
    } finally {
      this.#calls--
      this.#awaitIdle()
    }
  }

  /** Stops the server. Resolves when no process is left. */
  stop(): Promise<unknown> {
    this.#abort.abort(new McpFailed(stopped))
    this.#abort = new AbortController()
    this.#pauses.hurry()
    const [connection, connecting] = [this.#connection, this.#connecting]
    this.#connecting = undefined
    this.#forget()
    this.#ending = Promise.all([this.#ending, connection?.close(), connecting?.catch(() => {})])
    this.#set({ kind: 'stopped' })
    return this.#ending
  }

  #begin(attempt: Promise<McpConnection>): Promise<McpConnection> {
    const connecting = attempt.finally(() => {
      if (this.#connecting === connecting) this.#connecting = undefined
    })
    this.#connecting = connecting
    // Each caller of `connected` gets the failure. Without a caller, only the state shows it, and the rejection must
    // not be unhandled.
    connecting.catch(() => {})
    return connecting
  }

  async #connect(): Promise<McpConnection> {
    const abort = (this.#abort = new AbortController())
    try {
      // Without a token the attempt most likely ends where it began. Clients take their sign-in away while a server starts.
      const needsToken = this.state.kind === 'authRequired' && this.#credentials.token() === undefined
      if (!needsToken) this.#set({ kind: 'starting' })
      await this.#ending
      abort.signal.throwIfAborted()
      if (!this.#pool.mayStart())
        throw new McpFailed(`${this.#limits.mcpServers} MCP servers run already. Stop one of them first.`)
      const connection = await this.#connectAuthorized(abort.signal)
      if (abort.signal.aborted) await connection.close()
      abort.signal.throwIfAborted()
      this.#pool.connected(connection.era)
      this.#ready(connection)
      return connection
    } catch (error) {
      const cause: unknown = abort.signal.aborted ? abort.signal.reason : error
      const failure = failureOf('The MCP server did not start', cause, this.#redact)
      throw this.#abort === abort ? this.#fail(failure) : failure
    }
  }

  /** Connects. If the server wants a token and there is one, connects again with it. */
  async #connectAuthorized(signal: AbortSignal): Promise<McpConnection> {
    for (let isRetry = false; ; isRetry = true) {
      let challenge: Challenge | undefined
      try {
        return await this.#attempt(signal, (each) => (challenge = each))
      } catch (error) {
        if (!challenge || signal.aborted) throw error
        const required = await this.#credentials.required(challenge)
        if (isRetry || challenge.hadToken || this.#credentials.token() === undefined) throw required
      }
    }
  }

  #attempt(signal: AbortSignal, onChallenge: (challenge: Challenge) => void): Promise<McpConnection> {
    const { context } = this.#pool
    const { mcpStartMs } = this.#limits
    const timeout = new AbortController()
    const attempt = connect(this.#config, {
      context,
      era: this.#pool.era(),
      token: () => this.#credentials.token(),
      onChallenge,
      onTools: () => this.#toolsChanged(),
      onEnd: (reason) => this.#lost(reason),
      onDiagnostics: (lines) => (this.#diagnostics = lines),
      signal: AbortSignal.any([signal, timeout.signal]),
    })
    return withTimeout(context.later, mcpStartMs, attempt, () => {
      const failure = new McpFailed(`The MCP server was not ready within ${Math.round(mcpStartMs / 1000)} s.`)
      timeout.abort(failure)
      this.#ending = attempt.catch(() => {})
      throw failure
    })
  }

  #ready(connection: McpConnection): void {
    this.#connection = connection
    this.tools = definitionsOf(connection)
    this.#pauses.awaitSteady()
    this.#awaitIdle()
    this.#set({ kind: 'ready' })
  }

  #toolsChanged(): void {
    if (!this.#connection) return
    this.tools = definitionsOf(this.#connection)
    this.#pool.changed()
  }

  /**
   * Called when the connection has ended by itself. A server that is a program is started again, after a pause that
   * is twice as long each time.
   */
  #lost(reason: string): void {
    const connection = this.#connection
    if (!connection) return
    this.#forget()
    const clause = this.#redact(reason)
    this.#ending = connection.close(`The MCP server ended during the call: ${clause}.`)
    if (!this.#pool.isWanted()) this.#set({ kind: 'stopped' })
    else if ('url' in this.#config) this.#fail(new McpFailed(`The MCP server is gone: ${clause}.`))
    else void this.#begin(this.#restart(clause))
  }

  async #restart(clause: string): Promise<McpConnection> {
    const { mcpRestarts } = this.#limits
    const signal = this.#pauses.begin()
    this.#set({ kind: 'starting' })
    for (;;) {
      if (this.#pauses.isExhausted)
        throw this.#fail(
          new McpFailed(`The MCP server ended again, after ${mcpRestarts} restarts: ${clause}.`),
        )
      await this.#pauses.next(signal)
      if (!this.#pool.isWanted()) throw new McpFailed(stopped)
      try {
        return await this.#connect()
      } catch (error) {
        if (signal.aborted || error instanceof McpAuthRequired) throw error
      }
    }
  }

  async #callFailure(connection: McpConnection, error: unknown): Promise<McpFailed> {
    const isChallenge = error instanceof Challenge
    const cause: unknown = isChallenge
      ? await this.#credentials.required(error).catch((problem: unknown) => problem)
      : error
    const failure = failureOf('The call failed', cause, this.#redact)
    // The connection is given up in two cases. With 401 the server refuses the token itself, and would refuse every
    // call. (If only a scope is missing, only this call is refused.) Or the server cannot be reached, or has
    // forgotten the connection.
    const isLost = isChallenge ? error.status === 401 : 'url' in this.#config && isGone(error)
    if (isLost && this.#connection === connection) {
      this.#forget()
      this.#ending = connection.close(failure.message)
      this.#fail(failure)
    }
    return failure
  }

  /**
   * Sets the state that says what is wrong. It includes the last lines that the server wrote, because they often say
   * why.
   */
  #fail(failure: McpFailed): McpFailed {
    if (failure instanceof McpAuthRequired) {
      this.#set({ kind: 'authRequired', ...failure.requirement })
      return failure
    }
    const words = this.lastWords.slice(-shownWords).join('\n')
    const message = words === '' ? failure.message : `${failure.message}\n\nIts last output:\n\n${words}`
    this.tools = noTools
    this.#set({ kind: 'error', error: { errorType: 'mcp', message } })
    return failure
  }

  #forget(): void {
    this.#connection = undefined
    this.#cancelIdle()
    this.#pauses.stopWaiting()
  }

  #awaitIdle(): void {
    this.#cancelIdle()
    if (this.#calls > 0 || !this.#connection) return
    this.#cancelIdle = this.#pool.context.later(this.#limits.mcpIdleMs, () => void this.stop())
  }

  #set(state: McpServerState): void {
    this.state = state
    this.#pool.changed()
  }

  readonly #redact = (text: string): string => this.#credentials.redact(text)
}

function definitionsOf({ tools }: McpConnection): readonly ToolDefinition[] {
  return [...tools.values()].map(({ definition }) => definition)
}

const stopped = 'The MCP server was stopped.'
const shownWords = 5
