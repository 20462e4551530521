import { defaultChatUri } from '@atrium/protocol/uri'
import { opened, turnStarted } from '../messages.ts'
import { masked } from '../wire.ts'
import type { Wire } from '../wire.ts'

/** A client that creates sessions with the agent and times their turns. */
export class AgentClient {
  readonly #wire: Wire
  #ended = 0
  #began = 0
  #first: number | undefined
  #seq = 0

  private constructor(wire: Wire) {
    this.#wire = wire
    wire.onFrame = (data, from, to) => {
      const has = (text: string) => {
        const at = data.indexOf(text, from)
        return at >= 0 && at < to
      }
      if (has('"chat/responsePart"')) this.#first ??= performance.now()
      if (has('"chat/turnComplete"') || has('"chat/error"')) this.#ended++
    }
  }

  static async open(port: number): Promise<AgentClient> {
    return new AgentClient(await opened({ port }, 'agent-client'))
  }

  /** Creates a session and runs a turn. Resolves with the milliseconds until the first text and until the end of the turn. */
  async session(
    session: string,
    words: number,
    provider = 'scripted',
    workingDirectories: readonly string[] = [],
  ): Promise<{ readonly first: number; readonly all: number }> {
    const began = performance.now()
    const directories = workingDirectories.length > 0 ? { workingDirectories } : {}
    await this.#wire.ask('createSession', { channel: session, provider, ...directories })
    await this.#wire.ask('subscribe', { channel: defaultChatUri(session) })
    const { first, all } = await this.turn(session, words)
    const made = this.#began - began
    return { first: made + first, all: made + all }
  }

  async turn(session: string, words: number): Promise<{ readonly first: number; readonly all: number }> {
    const ended = this.#ended
    this.#first = undefined
    this.#began = performance.now()
    this.#wire.write(masked(turnStarted(session, ++this.#seq, String(words))))
    await this.#wire.until(() => this.#ended > ended)
    const all = performance.now() - this.#began
    return { first: (this.#first ?? performance.now()) - this.#began, all }
  }

  /** Makes the host start the agent and read its config options. */
  async probe(): Promise<void> {
    await this.#wire.ask('resolveSessionConfig', { channel: 'ahp-root://', provider: 'scripted', config: {} })
  }

  /** Unsubscribes, so that the host may unload the session. */
  unsubscribe(session: string): void {
    const params = { channel: defaultChatUri(session) }
    this.#wire.send({ jsonrpc: '2.0', method: 'unsubscribe', params })
  }

  close(): void {
    this.#wire.close()
  }
}
