import { defaultChatUri } from '@atrium/protocol/uri'
import { greet, turnStarted } from '../turn/chat.ts'
import { Wire, masked } from '../wire.ts'

/** Somebody who makes sessions with the agent, and watches its turns. */
export class Visit {
  readonly #wire: Wire
  #ended = 0
  #began = 0
  #first: number | undefined
  #seq = 0

  private constructor(wire: Wire) {
    this.#wire = wire
    wire.heard = (data, from, to) => {
      const has = (word: string) => {
        const at = data.indexOf(word, from)
        return at >= 0 && at < to
      }
      if (has('"chat/responsePart"')) this.#first ??= performance.now()
      if (has('"chat/turnComplete"') || has('"chat/error"')) this.#ended++
    }
  }

  static async open(port: number): Promise<Visit> {
    return new Visit(await greet(await Wire.open(port), 'visitor'))
  }

  /** Resolves with the milliseconds until the first word of a new session's first turn, and until its end. */
  async session(
    session: string,
    words: number,
    provider = 'scripted',
  ): Promise<{ readonly first: number; readonly all: number }> {
    const began = performance.now()
    await this.#wire.ask('createSession', { channel: session, provider })
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

  /** The agent is started, and asked what it can. */
  async probe(): Promise<void> {
    await this.#wire.ask('resolveSessionConfig', { channel: 'ahp-root://', provider: 'scripted', config: {} })
  }

  /** From now on the session may sleep. */
  leave(session: string): void {
    const params = { channel: defaultChatUri(session) }
    this.#wire.send({ jsonrpc: '2.0', method: 'unsubscribe', params })
  }

  close(): void {
    this.#wire.close()
  }
}
