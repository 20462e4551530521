import { AhpError } from '@atrium/protocol/errors'
import { LinkClosed, Peer } from '@atrium/protocol/rpc/peer'
import type { TurnFailed } from '@atrium/host/ports/agent'
import type { World } from '@atrium/host/ports/world'
import { withTimeout } from '../../process/timeout.ts'
import type { LineProcess } from '../../process/line-process.ts'
import { fieldsOf, methodNotFound } from './schema.ts'
import type { Fields, InitializeResponse, SessionUpdate } from './schema.ts'

/** The client side of one ACP session: receives its updates, and answers the requests of the agent. */
export interface SessionClient {
  update(update: SessionUpdate): void
  /** The agent has seen that a page which users were asked to visit has done its work. */
  elicited(elicitationId: string): void
  /** Returns the result of a request. Throws an AhpError to refuse the request. */
  answer(method: string, params: Fields): Promise<object>
}

export interface ConnectionOptions {
  readonly capabilities: object
  /** The version of Atrium. */
  readonly version: string
  readonly later: World['later']
  /** Describes a failure of the agent for users. */
  readonly describeFailure: (problem: string, errorType?: string) => TurnFailed
}

/**
 * The JSON-RPC connection to one agent process. Each update or request of the agent names a session, and goes to the client
 * of that session.
 */
export class AcpConnection {
  readonly process: LineProcess
  readonly #options: ConnectionOptions
  readonly #clients = new Map<string, SessionClient>()
  /** Updates of sessions that have no client yet. Some agents send updates before the response that tells the session id. */
  readonly #earlyUpdates = new Map<string, SessionUpdate[]>()
  readonly #peer: Peer
  #initialized: InitializeResponse = {}

  private constructor(agentProcess: LineProcess, options: ConnectionOptions) {
    this.process = agentProcess
    this.#options = options
    const receiver = {
      request: (method: string, params: unknown) => this.#answer(method, params),
      notification: (method: string, params: unknown) => this.#receive(method, params),
    }
    this.#peer = new Peer(agentProcess.lines, receiver, { limits: messageLimits })
  }

  /** Opens a connection. Resolves when the agent has answered `initialize`. Rejects with a message for users. */
  static async open(agentProcess: LineProcess, options: ConnectionOptions): Promise<AcpConnection> {
    const connection = new AcpConnection(agentProcess, options)
    const { capabilities: clientCapabilities, version, describeFailure } = options
    const clientInfo = { name: 'atrium', title: 'Atrium', version }
    const params = { protocolVersion: 1, clientCapabilities, clientInfo }
    const response: InitializeResponse = await connection.request('initialize', params, initializeMs)
    if (response.protocolVersion !== 1)
      throw describeFailure(
        `it speaks version ${String(response.protocolVersion)} of ACP, and this host speaks version 1`,
      )
    connection.#initialized = response
    return connection
  }

  get initialized(): InitializeResponse {
    return this.#initialized
  }

  get open(): boolean {
    return !this.#peer.closed.aborted
  }

  /**
   * Sends a request to the agent. If the agent refuses, rejects with the agent's error as an AhpError. If the agent has ended
   * or does not answer in time, rejects with a message for users. Without `timeoutMs` the wait has no limit.
   */
  async request(method: string, params: object, timeoutMs?: number): Promise<object> {
    try {
      const response = this.#peer.request(method, params)
      const result = await (timeoutMs === undefined
        ? response
        : withTimeout(this.#options.later, timeoutMs, response, () => this.#endSilent(method, timeoutMs)))
      return fieldsOf(result)
    } catch (error) {
      throw error instanceof LinkClosed ? await this.#exitFailure() : error
    }
  }

  notify(method: string, params: object): void {
    this.#peer.notify(method, params)
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#options.later(ms, resolve))
  }

  /** Sets the client of a session, and delivers the updates that came before the session had a client. */
  attach(sessionId: string, client: SessionClient): void {
    this.#clients.set(sessionId, client)
    const early = this.#earlyUpdates.get(sessionId) ?? []
    this.#earlyUpdates.delete(sessionId)
    for (const update of early) client.update(update)
  }

  /** Ends an agent that did not answer in time, so that the next turn starts another process. */
  #endSilent(method: string, timeoutMs: number): never {
    const failure = this.#options.describeFailure(
      `it did not answer ${method} within ${Math.round(timeoutMs / 1000)} s`,
    )
    void this.process.end()
    throw failure
  }

  async #exitFailure(): Promise<TurnFailed> {
    return this.#options.describeFailure(await this.process.ended, 'agent')
  }

  #receive(method: string, params: unknown): void {
    const { sessionId, update, elicitationId } = fieldsOf(params)
    // This notification names no session.
    if (method === 'elicitation/complete' && typeof elicitationId === 'string')
      for (const client of this.#clients.values()) client.elicited(elicitationId)
    if (method !== 'session/update') return
    if (typeof sessionId !== 'string' || typeof update !== 'object' || update === null) return
    const client = this.#clients.get(sessionId)
    if (client) return client.update(update)
    const early = this.#earlyUpdates.get(sessionId) ?? []
    if (this.#earlyUpdates.size < maxEarlyUpdates && early.length < maxEarlyUpdates)
      this.#earlyUpdates.set(sessionId, [...early, update])
  }

  #answer(method: string, params: unknown): Promise<object> {
    const fields = fieldsOf(params)
    const { sessionId } = fields
    const client = typeof sessionId === 'string' ? this.#clients.get(sessionId) : undefined
    if (!answeredMethods.has(method))
      throw new AhpError(methodNotFound, `this host does not support ${method}`)
    if (!client) throw AhpError.invalidParams(`no session ${JSON.stringify(String(sessionId).slice(0, 100))}`)
    return client.answer(method, fields)
  }
}

/** Whether the agent takes messages while it works on a prompt. */
export function steers({ initialized: { _meta } }: AcpConnection): boolean {
  return _meta?.steering?.supported === true
}

const answeredMethods = new Set([
  'session/request_permission',
  'fs/write_text_file',
  'terminal/create',
  'terminal/output',
  'terminal/wait_for_exit',
  'terminal/kill',
  'terminal/release',
  'elicitation/create',
])

/**
 * The limits of one message from the agent: its length in characters, its depth of nesting and its number of keys.
 * They are wide, because a message may contain a whole file, and users trust the agents that they start.
 */
const messageLimits = { size: 64 * 2 ** 20, depth: 200, keys: 1_000_000 }
const initializeMs = 60_000
/** The maximum number of sessions with early updates, and the maximum number of early updates per session. */
const maxEarlyUpdates = 100
