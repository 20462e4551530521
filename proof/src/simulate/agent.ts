import type { Channel } from '@atrium/host/channel'
import type { Core } from '@atrium/host/core'
import { rest } from '@atrium/host/rest'
import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import { Chance } from '../chance.ts'
import type { Truth } from './truth.ts'

/**
 * What agents and terminals say, said straight to the log: turns that begin and end, streamed text, output that only
 * passes.
 */
export class Agent {
  readonly #core: Core
  readonly #truth: Truth
  #names: () => number

  constructor(core: Core, truth: Truth, names: () => number) {
    this.#core = core
    this.#truth = truth
    this.#names = names
  }

  act(chance: Chance, alive: () => boolean): void {
    const { log } = this.#core
    if (log.diskFull || log.congested) return
    const chats = this.#living('ahp-chat:')
    const terminals = this.#living('ahp-terminal:')
    if (terminals.length < 1 && chance.oneIn(4)) this.#bearTerminal()
    else if (terminals.length > 0 && chance.oneIn(4)) this.#print(terminals[0] ?? '', chance, alive)
    else this.#speak(chance.pick(chats) ?? '', chance, alive)
  }

  /** One of each, and a turn that streams. */
  prepare(): void {
    const chat = this.#living('ahp-chat:')[0]
    if (this.#living('ahp-terminal:').length === 0) this.#bearTerminal()
    if (chat !== undefined) this.#speak(chat, new Chance(1), () => true)
  }

  #living(prefix: string): readonly Uri[] {
    return [...this.#truth.stories.keys()].filter((uri) => uri.startsWith(prefix) && this.#truth.living(uri))
  }

  #bearTerminal(): void {
    const uri = `ahp-terminal:/${this.#names()}`
    const claim = { kind: 'client', clientId: 'c0' }
    const terminal = this.#core.log.born(uri, 'terminal', {
      title: 'sh',
      claim,
      content: [],
      lifecycle: { status: 'running' },
    })
    rest(this.#core, terminal)
  }

  #print(uri: Uri, chance: Chance, alive: () => boolean): void {
    this.#awake([uri], alive, ([terminal]) => {
      if (!terminal) return
      for (let n = chance.below(4); n >= 0; n--) {
        const action = { type: 'terminal/data', data: `${this.#names()} ` } as Action
        this.#truth.passed(uri, this.#core.log.append(terminal, action).seq, action)
      }
      if (!chance.oneIn(3)) return
      const cwd = `file:///${this.#names()}`
      this.#core.log.append(terminal, { type: 'terminal/cwdChanged', cwd } as Action)
    })
  }

  /** The next thing a turn would say: it begins, streams, and ends. */
  #speak(uri: Uri, chance: Chance, alive: () => boolean): void {
    this.#awake([this.#core.catalog.sessionOf(uri) ?? '', uri], alive, ([session, chat]) => {
      if (!session || !chat) return
      const { activeTurn } = chat.head as ChatState
      const turnId = activeTurn?.id ?? `turn-${this.#names()}`
      if (!activeTurn) {
        const message = { text: 'go', origin: { kind: 'user' } }
        const begun = { type: 'chat/turnStarted', turnId, startedAt: '2026-01-01T00:00:00Z', message }
        return void this.#core.log.append(chat, begun as Action)
      }
      const parts = activeTurn.responseParts.flatMap((part) => (part.kind === 'markdown' ? [part.id] : []))
      const part = chance.pick(parts)
      if (part === undefined || chance.oneIn(6)) {
        const fresh = { kind: 'markdown', id: `part-${this.#names()}`, content: '' }
        return void this.#core.log.append(chat, { type: 'chat/responsePart', turnId, part: fresh } as Action)
      }
      if (chance.oneIn(6)) {
        return void this.#core.log.append(chat, { type: 'chat/turnComplete', turnId, duration: 1 } as Action)
      }
      for (let n = chance.below(5); n >= 0; n--) {
        const into = chance.oneIn(4) ? (chance.pick(parts) ?? part) : part
        this.#core.log.append(chat, {
          type: 'chat/delta',
          turnId,
          partId: into,
          content: `${this.#names()} `,
        } as Action)
      }
    })
  }

  /** In one synchronous step, once all of them are in memory. */
  #awake(
    uris: readonly Uri[],
    alive: () => boolean,
    act: (channels: readonly (Channel | undefined)[]) => void,
  ): void {
    const { log } = this.#core
    const now = () => uris.map((uri) => log.channel(uri))
    const asleep = uris.filter((uri) => this.#truth.living(uri) && !log.channel(uri))
    const run = () => {
      if (!alive() || log.diskFull || log.congested) return
      const channels = now()
      act(channels)
      for (const channel of channels)
        if (channel && log.channel(channel.uri) === channel) rest(this.#core, channel)
    }
    if (asleep.length === 0) run()
    else void Promise.all(asleep.map((uri) => log.wake(uri))).then(run)
  }
}
