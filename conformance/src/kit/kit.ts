import { randomUUID } from 'node:crypto'
import type { Uri } from '@atrium/protocol/channel'
import { errorCodes } from '@atrium/protocol/errors'
import { sessionUri } from '@atrium/protocol/uri'
import { Skipped, shown } from './check.ts'
import { Client, resultOf } from './client.ts'
import type { Offer } from './offer.ts'
import type { Target } from './link.ts'

/** What one rule works with: links and sessions of its own, which are gone when it is done. */
export class Kit {
  readonly offer: Offer
  readonly #target: Target
  readonly #clients: Client[] = []
  readonly #sessions: Uri[] = []
  #keeper: Client | undefined

  constructor(target: Target, offer: Offer) {
    this.#target = target
    this.offer = offer
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

  /** Creates a session and sees to its end. */
  async create(by: Client, uri = this.unusedUri()): Promise<Uri> {
    this.#sessions.push(uri)
    const answer = await by.ask('createSession', { channel: uri, provider: this.offer.provider })
    if ('error' in answer && answer.error.code === errorCodes.AuthRequired)
      throw new Skipped(`the agent ${shown(this.offer.provider)} needs a login to create a session`)
    resultOf('createSession', answer)
    return uri
  }

  /** A session for a rule about something else: one that cannot be had is no fault of that rule. */
  async session(): Promise<Uri> {
    this.#keeper ??= await this.join()
    return this.create(this.#keeper).catch((error: Error) => {
      throw error instanceof Skipped ? error : new Skipped(`no session could be created: ${error.message}`)
    })
  }

  /** Another link of the same client. */
  again({ clientId }: Client): Promise<Client> {
    return this.open(clientId)
  }

  /** To be told about what was made under a name of the rule's own. */
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
