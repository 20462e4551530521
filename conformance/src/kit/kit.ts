import { randomUUID } from 'node:crypto'
import type { Uri } from '@atrium/protocol/channel'
import { errorCodes } from '@atrium/protocol/errors'
import { Skipped, excerpt } from './check.ts'
import { Client, resultOf } from './client.ts'
import type { HostFacts } from './host-facts.ts'
import type { Target } from './link.ts'
import type { SessionHabits } from './session-habits.ts'
import { uriOf } from './uri-form.ts'
import { defines } from './version.ts'

/**
 * The time that a turn may take by default. It suffices for an agent that thinks long, starts slowly, or waits in a
 * queue of its provider.
 */
const defaultTurnTimeoutMs = 60_000

/** Options of the run that concern sessions and turns. */
export interface SessionOptions {
  /** Further params of `createSession`, such as its working directories. */
  readonly sessionParams?: object | undefined
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
 * Reasons to skip later rules. An earlier rule sets a reason when it has waited in vain, so that the kit runs into
 * each timeout only once.
 */
export interface SkipReasons {
  /** Set once a turn did not end. */
  turnEnd?: string
  /** Set once the agent did not ask for approval of a tool call. */
  call?: string | undefined
  /** Set once the agent did not ask questions. */
  request?: string | undefined
}

/** The state of one run against one version, shared by all of its rules. */
export interface Run {
  readonly target: Target
  readonly facts: HostFacts
  readonly habits: SessionHabits
  readonly options: SessionOptions
  readonly skips: SkipReasons
}

/** The tools of one rule: its own connections and sessions, which `end` closes and disposes of. */
export class Kit {
  readonly facts: HostFacts
  readonly habits: SessionHabits
  readonly options: SessionOptions
  readonly skips: SkipReasons
  /** The time that a turn may take. */
  readonly turnTimeoutMs: number
  readonly #target: Target
  readonly #clients: Client[] = []
  readonly #sessions: Uri[] = []
  #sessionCreator: Client | undefined

  constructor({ target, facts, habits, options, skips }: Run) {
    this.#target = target
    this.facts = facts
    this.habits = habits
    this.options = options
    this.skips = skips
    this.turnTimeoutMs = target.turnTimeoutMs ?? defaultTurnTimeoutMs
  }

  get version(): string {
    return this.facts.version
  }

  /** Tells whether the version under test has an action, command or notification of this name. */
  defines(name: string): boolean {
    return defines(this.version, name)
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

  /** A session URI that no session has had, for a session of this agent. */
  unusedUri(provider = this.facts.provider): Uri {
    return uriOf(this.habits.sessionForm, { id: randomUUID(), provider })
  }

  /** A chat URI that no chat has had, for a chat of this session. */
  unusedChat(session: Uri): Uri {
    return uriOf(this.habits.chatForm, { id: randomUUID(), session })
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

  /** Creates a session that `end` disposes of. The rule fails if the host answers with an error. */
  async mustCreate(by: Client, uri: Uri, more: object = {}): Promise<Uri> {
    this.disposeLater(uri)
    const answer = await by.request('createSession', this.creationParams(uri, more))
    if ('error' in answer && answer.error.code === errorCodes.AuthRequired)
      throw new Skipped(`the agent ${excerpt(this.facts.provider)} needs a login to create a session`)
    resultOf('createSession', answer)
    return uri
  }

  /** The params of `createSession` for a session of the agent under test. */
  creationParams(channel: Uri, more: object = {}): object {
    return { channel, provider: this.facts.provider, ...this.options.sessionParams, ...more }
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
   * Disposes of the sessions over a connection that the rule has not used, because the rule may have left its own
   * connections in any state.
   */
  async #dispose(): Promise<void> {
    const client = this.#sessionCreator ?? (await this.join())
    await Promise.all(this.#sessions.map((channel) => client.request('disposeSession', { channel })))
  }
}
