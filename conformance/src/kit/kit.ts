import { randomUUID } from 'node:crypto'
import type { Uri } from '@atrium/protocol/channel'
import { errorCodes } from '@atrium/protocol/errors'
import { sessionUri } from '@atrium/protocol/uri'
import { Skipped, excerpt } from './check.ts'
import { Client, resultOf } from './client.ts'
import type { HostFacts } from './host-facts.ts'
import type { Target } from './link.ts'

/** Long enough for an agent that thinks long, starts slowly, or waits in a queue of its provider. */
const defaultTurnTimeoutMs = 60_000

/** Options of the run that concern turns. */
export interface TurnOptions {
  /** The model that turns ask for. Absent: the agent chooses. */
  readonly model?: string | undefined
  /** A message that makes the agent ask for approval of a tool call. */
  readonly toolPrompt?: string | undefined
  /** A message that makes the agent ask questions. */
  readonly formPrompt?: string | undefined
  /** A message that makes the agent start a chat by a tool. */
  readonly workerPrompt?: string | undefined
}

/**
 * What earlier rules found missing, as the reason to skip later rules that need it. So the kit runs into each timeout
 * only once.
 */
export interface SkipReasons {
  /** A turn did not end. */
  turnEnd?: string
  /** The agent does not ask for approval of a tool call. */
  call?: string | undefined
  /** The agent does not ask questions. */
  request?: string | undefined
}

/** The state of one run against one version, shared by all of its rules. */
export interface Run {
  readonly target: Target
  readonly facts: HostFacts
  readonly options: TurnOptions
  readonly skips: SkipReasons
}

/** The tools of one rule: its own connections and sessions, which `end` closes and disposes of. */
export class Kit {
  readonly facts: HostFacts
  readonly options: TurnOptions
  readonly skips: SkipReasons
  /** The time that a turn may take. */
  readonly turnTimeoutMs: number
  readonly #target: Target
  readonly #clients: Client[] = []
  readonly #sessions: Uri[] = []
  #sessionCreator: Client | undefined

  constructor({ target, facts, options, skips }: Run) {
    this.#target = target
    this.facts = facts
    this.options = options
    this.skips = skips
    this.turnTimeoutMs = target.turnTimeoutMs ?? defaultTurnTimeoutMs
  }

  get version(): string {
    return this.facts.version
  }

  /** Opens a connection. Nothing is sent yet. */
  async connect(clientId?: string): Promise<Client> {
    const client = new Client(this.#target, this.version, clientId)
    this.#clients.push(client)
    await client.opened()
    return client
  }

  /** Opens a connection and initializes it. */
  async join(more: object = {}): Promise<Client> {
    const client = await this.connect()
    await client.initialize(more)
    return client
  }

  /** Opens another connection with the same client id. */
  connectAgain({ clientId }: Client): Promise<Client> {
    return this.connect(clientId)
  }

  /** A session URI that no session has had. */
  unusedUri(): Uri {
    return sessionUri(randomUUID())
  }

  /** Creates a session with a client that the rule itself does not use. */
  async session(): Promise<Uri> {
    this.#sessionCreator ??= await this.join()
    return this.create(this.#sessionCreator)
  }

  /**
   * Creates a session with a client of the rule. If the host cannot create a session, K80 fails and every other rule is
   * skipped.
   */
  async create(by: Client, uri = this.unusedUri(), more: object = {}): Promise<Uri> {
    return this.mustCreate(by, uri, more).catch((error: Error) => {
      throw error instanceof Skipped ? error : new Skipped(`no session could be created: ${error.message}`)
    })
  }

  /** Creates a session and changes it once. A host may leave a session out of its list until the first change. */
  async createInUse(by: Client): Promise<Uri> {
    const session = await this.create(by)
    await this.use(by, session)
    return session
  }

  async use(by: Client, session: Uri): Promise<void> {
    await by.subscribe(session)
    await by.retitle(session)
  }

  /** Creates a session that `end` disposes of. The rule fails if the host answers with an error. */
  async mustCreate(by: Client, uri: Uri, more: object = {}): Promise<Uri> {
    this.disposeLater(uri)
    const { provider } = this.facts
    const answer = await by.request('createSession', { channel: uri, provider, ...more })
    if ('error' in answer && answer.error.code === errorCodes.AuthRequired)
      throw new Skipped(`the agent ${excerpt(provider)} needs a login to create a session`)
    resultOf('createSession', answer)
    return uri
  }

  /** Remembers a session that may exist from now on, so that `end` disposes of it. */
  disposeLater(uri: Uri): void {
    this.#sessions.push(uri)
  }

  async end(): Promise<void> {
    if (this.#sessions.length > 0) await this.#dispose().catch(() => {})
    for (const client of this.#clients) client.terminate()
  }

  /**
   * Disposes of the sessions over a connection that the rule has not used, because the rule may have left its own in
   * any state.
   */
  async #dispose(): Promise<void> {
    const client = this.#sessionCreator ?? (await this.join())
    await Promise.all(this.#sessions.map((channel) => client.request('disposeSession', { channel })))
  }
}
