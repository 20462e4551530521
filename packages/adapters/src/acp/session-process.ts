import type { World } from '@atrium/host/ports/world'
import type { Uri } from '@atrium/protocol/channel'
import { Conversation } from './acp-session.ts'
import type { Surroundings } from './acp-session.ts'
import type { Link } from './process/connection.ts'

/**
 * An agent at work for one session of the host: a process, and in it a session of its own for each chat. When it has gone, however
 * that came, the next turn starts another. After a time without a turn it is let go, where it can find its sessions again.
 */
export class House {
  readonly #open: (signal: AbortSignal) => Promise<Link>
  readonly #later: World['later']
  readonly #conversations = new Map<Uri, Conversation>()
  readonly #opening = new Map<Uri, Promise<Conversation>>()
  #link: Promise<Link> | undefined
  #turns = 0
  readonly #over = new AbortController()
  #undoRest = () => {}

  constructor(open: (signal: AbortSignal) => Promise<Link>, later: World['later']) {
    this.#open = open
    this.#later = later
  }

  /** The agent, started if it does not run. */
  async link(): Promise<Link> {
    if (this.#over.signal.aborted) throw new Error('the session has gone')
    const started = (this.#link ??= this.#started())
    const link = await started
    if (link.open) return link
    // Whoever notices it first starts the next one; the others find that.
    if (this.#link === started) {
      this.#link = undefined
      this.#conversations.clear()
    }
    return this.link()
  }

  /** The agent's session for a chat; one that is being opened, by a turn that was cancelled meanwhile, when it is. */
  async there(chat: Uri): Promise<Conversation | undefined> {
    await this.#opening.get(chat)?.catch(() => {})
    return this.conversation(chat)
  }

  conversation(chat: Uri): Conversation | undefined {
    const found = this.#conversations.get(chat)
    return found?.link.open ? found : undefined
  }

  async begin(chat: Uri, where: Surroundings): Promise<Conversation> {
    return this.#kept(chat, async () => Conversation.begin(await this.link(), where))
  }

  async restore(chat: Uri, sessionId: string, where: Surroundings): Promise<Conversation> {
    return this.#kept(chat, async () => Conversation.restore(await this.link(), sessionId, where))
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

  /** The same, unless another turn is at work. Gives whether it was. */
  async endIfAlone(): Promise<boolean> {
    if (this.#turns > 1) return false
    await this.end()
    return true
  }

  /** For good. */
  async close(): Promise<void> {
    this.#over.abort()
    await this.end()
  }

  #started(): Promise<Link> {
    const started = this.#open(this.#over.signal)
    started.catch(() => {
      if (this.#link === started) this.#link = undefined
    })
    return started
  }

  async #rest(): Promise<void> {
    const link = await this.#link?.catch(() => undefined)
    const { loadSession, sessionCapabilities } = link?.initialized.agentCapabilities ?? {}
    if (this.#turns === 0 && (loadSession || sessionCapabilities?.resume)) await this.end()
  }

  async #kept(chat: Uri, open: () => Promise<Conversation>): Promise<Conversation> {
    const opening = open()
    this.#opening.set(chat, opening)
    try {
      const conversation = await opening
      this.#conversations.set(chat, conversation)
      return conversation
    } finally {
      if (this.#opening.get(chat) === opening) this.#opening.delete(chat)
    }
  }
}

const idleMs = 30 * 60_000
