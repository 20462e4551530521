import type { Channel } from '@atrium/host/channel'
import type { Core } from '@atrium/host/core'
import type { Entry } from '@atrium/host/entry'
import { rest } from '@atrium/host/rest'
import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import { Chance } from '../chance.ts'
import type { Truth } from './truth.ts'

/** The numbers of what was appended in one synchronous step: all of them survive, or none. */
export type StepNumbers = readonly number[]

/**
 * What agents and terminals will say, said straight to the log: chats that are born with their place in a session, turns
 * whose beginning and end change two channels in one step, streamed text, output that only passes.
 */
export class Agent {
  readonly #core: Core
  readonly #truth: Truth
  readonly #steps: StepNumbers[]
  #names: () => number

  constructor(core: Core, truth: Truth, steps: StepNumbers[], names: () => number) {
    this.#core = core
    this.#truth = truth
    this.#steps = steps
    this.#names = names
  }

  act(chance: Chance, alive: () => boolean): void {
    const { log } = this.#core
    if (log.diskFull || log.congested) return
    const chats = this.#living('ahp-chat:')
    const terminals = this.#living('ahp-terminal:')
    const sessions = this.#living('ahp-session:')
    if (chats.length < 2 && sessions.length > 0 && chance.oneIn(3)) this.#bear(chance.pick(sessions) ?? '')
    else if (terminals.length < 1 && chance.oneIn(4)) this.#bearTerminal()
    else if (terminals.length > 0 && chance.oneIn(4)) this.#print(terminals[0] ?? '', chance, alive)
    else this.#speak(chance.pick(chats) ?? '', chance, alive)
  }

  /** One of each, and a turn that streams. */
  prepare(): void {
    const chat = this.#living('ahp-chat:')[0]
    if (this.#living('ahp-terminal:').length === 0) this.#bearTerminal()
    if (chat === undefined) this.#bear(this.#living('ahp-session:')[0] ?? '')
    else this.#speak(chat, new Chance(1), () => true)
  }

  #living(prefix: string): readonly Uri[] {
    return [...this.#truth.stories.keys()].filter((uri) => uri.startsWith(prefix) && this.#truth.living(uri))
  }

  #bear(session: Uri): void {
    const { log } = this.#core
    const owner = log.channel(session)
    if (!owner) return
    const uri = `ahp-chat:/${this.#names()}`
    const at = '2026-01-01T00:00:00Z'
    const chat = log.born(uri, 'chat', {
      resource: uri,
      title: '',
      status: 1,
      modifiedAt: at,
      turns: [],
      session,
    })
    const summary = { resource: uri, title: '', status: 1, modifiedAt: at }
    const added = log.append(owner, { type: 'session/chatAdded', summary } as Action)
    this.#step(added)
    rest(this.#core, chat)
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
      this.#step(
        this.#core.log.append(terminal, {
          type: 'terminal/cwdChanged',
          cwd: `file:///${this.#names()}`,
        } as Action),
      )
    })
  }

  /** The next thing a turn would say: it begins, streams, and ends. */
  #speak(uri: Uri, chance: Chance, alive: () => boolean): void {
    const session = (this.#truth.stories.get(uri)?.born.state as { session?: Uri } | undefined)?.session ?? ''
    this.#awake([uri, session], alive, ([chat, owner]) => {
      if (!chat) return
      const { activeTurn } = chat.head as ChatState
      const turnId = activeTurn?.id ?? `turn-${this.#names()}`
      if (!activeTurn) {
        const message = { text: 'go', origin: { kind: 'user' } }
        const begun = { type: 'chat/turnStarted', turnId, startedAt: '2026-01-01T00:00:00Z', message }
        return this.#step(...this.#with(owner, uri, 8, () => this.#core.log.append(chat, begun as Action)))
      }
      const parts = activeTurn.responseParts.flatMap((part) => (part.kind === 'markdown' ? [part.id] : []))
      const part = chance.pick(parts)
      if (part === undefined || chance.oneIn(6)) {
        const fresh = { kind: 'markdown', id: `part-${this.#names()}`, content: '' }
        return this.#step(
          this.#core.log.append(chat, { type: 'chat/responsePart', turnId, part: fresh } as Action),
        )
      }
      if (chance.oneIn(6)) {
        const ended = { type: 'chat/turnComplete', turnId, duration: 1 } as Action
        return this.#step(...this.#with(owner, uri, 1, () => this.#core.log.append(chat, ended)))
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

  /** Beside what a chat says, its session's entry of it. */
  #with(owner: Channel | undefined, chat: Uri, status: number, say: () => Entry): readonly Entry[] {
    const said = say()
    const here = owner && this.#core.log.channel(owner.uri) === owner
    if (!here) return [said]
    const changed = { type: 'session/chatUpdated', chat, changes: { status } } as Action
    return [said, this.#core.log.append(owner, changed)]
  }

  #step(...entries: readonly Entry[]): void {
    this.#steps.push(entries.map(({ seq }) => seq))
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
