import { randomUUID } from 'node:crypto'
import type { Uri } from '@atrium/protocol/channel'
import { errorCodes } from '@atrium/protocol/errors'
import { sessionUri } from '@atrium/protocol/uri'
import { Skipped, shown } from './check.ts'
import { Client, resultOf } from './client.ts'
import type { Offer } from './offer.ts'
import type { Target } from './link.ts'

/** Agents that think, start slowly, or wait in somebody's queue still have the time. */
const mostTurnMs = 60_000

/** What rules find out for those after them. */
export interface Known {
  /** Why no turn can be waited for: an agent that never ends one would keep every rule for as long as a turn may take. */
  endless?: string
  /** Why the agent cannot be made to ask for approval, or to put questions. */
  callless?: string | undefined
  formless?: string | undefined
}

/** What one rule works with: links and sessions of its own, which are gone when it is done. */
export class Kit {
  readonly offer: Offer
  readonly known: Known
  /** How long a turn may take. */
  readonly turnMs: number
  readonly #target: Target
  readonly #clients: Client[] = []
  readonly #sessions: Uri[] = []
  #keeper: Client | undefined

  constructor(target: Target, offer: Offer, known: Known) {
    this.#target = target
    this.offer = offer
    this.known = known
    this.turnMs = target.turnMs ?? mostTurnMs
  }

  get version(): string {
    return this.offer.version
  }

  /** A link that has said nothing yet. */
  async open(clientId?: string): Promise<Client> {
    const client = new Client(this.#target, this.version, clientId)
    this.#clients.push(client)
    await client.opened()
    return client
  }

  /** A link that is let in. */
  async join(more: object = {}): Promise<Client> {
    const client = await this.open()
    await client.initialize(more)
    return client
  }

  /** A name that nobody has used. */
  unusedUri(): Uri {
    return sessionUri(randomUUID())
  }

  /** A session that is there before the rule begins. */
  async session(): Promise<Uri> {
    this.#keeper ??= await this.join()
    return this.create(this.#keeper)
  }

  /** A session by a client of the rule. That none can be had is the concern of one rule, and skips all others. */
  async create(by: Client, uri = this.unusedUri(), more: object = {}): Promise<Uri> {
    return this.mustCreate(by, uri, more).catch((error: Error) => {
      throw error instanceof Skipped ? error : new Skipped(`no session could be created: ${error.message}`)
    })
  }

  /** A session that is in use: a host may keep those to itself that nobody has done anything with. */
  async inUse(by: Client): Promise<Uri> {
    const session = await this.create(by)
    await this.use(by, session)
    return session
  }

  async use(by: Client, session: Uri): Promise<void> {
    await by.subscribe(session)
    await by.retitle(session)
  }

  /** Creates a session, sees to its end, and takes a refusal for a fault. */
  async mustCreate(by: Client, uri: Uri, more: object = {}): Promise<Uri> {
    this.made(uri)
    const answer = await by.ask('createSession', { channel: uri, provider: this.offer.provider, ...more })
    if ('error' in answer && answer.error.code === errorCodes.AuthRequired)
      throw new Skipped(`the agent ${shown(this.offer.provider)} needs a login to create a session`)
    resultOf('createSession', answer)
    return uri
  }

  /** Another link of the same client. */
  again({ clientId }: Client): Promise<Client> {
    return this.open(clientId)
  }

  /** Something may be there now that has to go in the end. */
  made(uri: Uri): void {
    this.#sessions.push(uri)
  }

  async end(): Promise<void> {
    if (this.#sessions.length > 0) await this.#dispose().catch(() => {})
    for (const client of this.#clients) client.cut()
  }

  /** Not on a link of the rule: it may be in any state by now. */
  async #dispose(): Promise<void> {
    const client = this.#keeper ?? (await this.join())
    await Promise.all(this.#sessions.map((channel) => client.ask('disposeSession', { channel })))
  }
}
