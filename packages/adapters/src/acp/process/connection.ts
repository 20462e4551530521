import { AhpError } from '@atrium/protocol/errors'
import { LinkClosed, Peer } from '@atrium/protocol/rpc/peer'
import type { TurnFailed } from '@atrium/host/ports/agent'
import type { World } from '@atrium/host/ports/world'
import type { AgentProcess } from './process.ts'
import { methodNotFound } from './schema.ts'
import type { Initialized, Update } from './schema.ts'

/** Who hears what is said of one session of an agent, and answers what it asks. */
export interface Party {
  update(update: Update): void
  /** Answers with a result; throws an AhpError to refuse. */
  ask(method: string, params: Asked): Promise<object>
}

export type Asked = { readonly [key: string]: unknown }

/** What is told of an agent that does not do what was asked of it. */
export type Describe = (problem: string, errorType?: string) => TurnFailed

/** The wire to one agent: it asks and is asked, and each word of it goes to the session that it is about. */
export class Link {
  readonly process: AgentProcess
  readonly #parties = new Map<string, Party>()
  /** What was said of a session before anybody knew its id: the answer that names it may come later. */
  readonly #early = new Map<string, Update[]>()
  readonly #peer: Peer
  readonly #later: World['later']
  readonly #describe: Describe
  #initialized: Initialized = {}

  private constructor(agentProcess: AgentProcess, later: World['later'], describe: Describe) {
    this.process = agentProcess
    this.#later = later
    this.#describe = describe
    const receiver = {
      request: (method: string, params: unknown) => this.#asked(method, params),
      notification: (method: string, params: unknown) => this.#heard(method, params),
    }
    this.#peer = new Peer(agentProcess.lines, receiver, { limits: lenient })
  }

  /** Resolves when the agent has said what it can; rejects in words for people. */
  static async open(
    agentProcess: AgentProcess,
    client: { readonly capabilities: object; readonly version: string },
    later: World['later'],
    describe: Describe,
  ): Promise<Link> {
    const link = new Link(agentProcess, later, describe)
    const { capabilities: clientCapabilities, version } = client
    const clientInfo = { name: 'atrium', title: 'Atrium', version }
    const hello = { protocolVersion: 1, clientCapabilities, clientInfo }
    const answer = (await link.request('initialize', hello, handshakeMs)) as Initialized
    if (typeof answer.protocolVersion !== 'number' || answer.protocolVersion !== 1)
      throw describe(`it speaks version ${String(answer.protocolVersion)} of ACP, and this host speaks 1`)
    link.#initialized = answer
    return link
  }

  get initialized(): Initialized {
    return this.#initialized
  }

  get open(): boolean {
    return !this.#peer.closed.aborted
  }

  /** Rejects with the agent's own AhpError where it refuses, else in words for people: it has gone, or does not answer. */
  async request(method: string, params: object, patienceMs?: number): Promise<object> {
    let undo = () => {}
    const late = new Promise<never>((_, reject) => {
      if (patienceMs !== undefined)
        undo = this.#later(patienceMs, () => {
          reject(this.#describe(`it did not answer ${method} within ${Math.round(patienceMs / 1000)} s`))
          // The next one is not asked in vain.
          void this.process.end()
        })
    })
    try {
      const result = await Promise.race([this.#peer.request(method, params), late])
      return typeof result === 'object' && result !== null ? result : {}
    } catch (error) {
      throw error instanceof LinkClosed ? await this.gone() : error
    } finally {
      undo()
    }
  }

  notify(method: string, params: object): void {
    this.#peer.notify(method, params)
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#later(ms, resolve))
  }

  /** How it went, with its last words. */
  async gone(): Promise<TurnFailed> {
    const { how } = await this.process.ended
    return this.#describe(how, 'agent')
  }

  join(sessionId: string, party: Party): void {
    this.#parties.set(sessionId, party)
    const early = this.#early.get(sessionId) ?? []
    this.#early.delete(sessionId)
    for (const update of early) party.update(update)
  }

  leave(sessionId: string): void {
    this.#parties.delete(sessionId)
  }

  #heard(method: string, params: unknown): void {
    if (method !== 'session/update') return
    const { sessionId, update } = (params ?? {}) as {
      readonly sessionId?: unknown
      readonly update?: unknown
    }
    if (typeof sessionId !== 'string' || typeof update !== 'object' || update === null) return
    const party = this.#parties.get(sessionId)
    if (party) return party.update(update as Update)
    const early = this.#early.get(sessionId) ?? []
    if (this.#early.size < mostEarly && early.length < mostEarly)
      this.#early.set(sessionId, [...early, update as Update])
  }

  #asked(method: string, params: unknown): Promise<object> {
    const { sessionId } = (params ?? {}) as { readonly sessionId?: unknown }
    const party = typeof sessionId === 'string' ? this.#parties.get(sessionId) : undefined
    if (!requests.has(method)) throw new AhpError(methodNotFound, `this host does not know ${method}`)
    if (!party) throw AhpError.invalidParams(`no session ${JSON.stringify(String(sessionId).slice(0, 100))}`)
    return party.ask(method, params as Asked)
  }
}

const requests = new Set([
  'session/request_permission',
  'fs/write_text_file',
  'terminal/create',
  'terminal/output',
  'terminal/wait_for_exit',
  'terminal/kill',
  'terminal/release',
  'elicitation/create',
])

/** Agents are started by people who trust them: their messages are as large as their files. */
const lenient = { size: 64 * 2 ** 20, depth: 200, keys: 1_000_000 }
const handshakeMs = 60_000
const mostEarly = 100
