import type { World } from '@atrium/host/ports/world'
import type { Uri } from '@atrium/protocol/channel'
import { Conversation } from './agent-acp-conversation.ts'
import type { Surroundings } from './agent-acp-conversation.ts'
import type { Link } from './agent-acp-link.ts'

/**
 * An agent at work for one session of the host: a process, and in it a session of its own for each chat. When it has gone, however
 * that came, the next turn starts another. After a time without a turn it is let go, where it can find its sessions again.
 */
export class House {
  readonly #open: () => Promise<Link>
  readonly #later: World['later']
  readonly #conversations = new Map<Uri, Conversation>()
  #link: Promise<Link> | undefined
  #turns = 0
  #closed = false
  #undoRest = () => {}

  constructor(open: () => Promise<Link>, later: World['later']) {
    this.#open = open
    this.#later = later
  }

  /** The agent, started if it does not run. */
  async link(): Promise<Link> {
    if (this.#closed) throw new Error('the session has gone')
    const link = await (this.#link ??= this.#started())
    if (link.open) return link
    this.#link = undefined
    this.#conversations.clear()
    return this.link()
  }

  conversation(chat: Uri): Conversation | undefined {
    const found = this.#conversations.get(chat)
    return found?.link.open ? found : undefined
  }

  get conversations(): readonly Conversation[] {
    return [...this.#conversations.values()]
  }

  async begin(chat: Uri, where: Surroundings): Promise<Conversation> {
    return this.#kept(chat, await Conversation.begin(await this.link(), where))
  }

  async restore(chat: Uri, sessionId: string, where: Surroundings): Promise<Conversation> {
    return this.#kept(chat, await Conversation.restore(await this.link(), sessionId, where))
  }

  /** A turn begins; gives its end. */
  enter(): () => void {
    this.#turns++
    this.#undoRest()
    return () => {
      if (--this.#turns === 0) this.#undoRest = this.#later(idleMs, () => void this.#rest())
    }
  }

  /** Ends the agent; the next turn starts another. */
  async end(): Promise<void> {
    this.#undoRest()
    const link = this.#link
    this.#link = undefined
    this.#conversations.clear()
    await link?.then(
      ({ process }) => process.end(),
      () => {},
    )
  }

  /** For good. */
  async close(): Promise<void> {
    this.#closed = true
    await this.end()
  }

  async #started(): Promise<Link> {
    try {
      return await this.#open()
    } catch (error) {
      this.#link = undefined
      throw error
    }
  }

  async #rest(): Promise<void> {
    const link = await this.#link?.catch(() => undefined)
    const { loadSession, sessionCapabilities } = link?.initialized.agentCapabilities ?? {}
    if (this.#turns === 0 && (loadSession || sessionCapabilities?.resume)) await this.end()
  }

  #kept(chat: Uri, conversation: Conversation): Conversation {
    this.#conversations.set(chat, conversation)
    return conversation
  }
}

const idleMs = 30 * 60_000
