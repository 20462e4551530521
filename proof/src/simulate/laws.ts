import type { Step } from '@atrium/host/ports/log'
import type { Action, Uri } from '@atrium/protocol/channel'
import type { ActiveTurn, ChatState } from '@atrium/protocol/chat/state'
import type { RootState } from '@atrium/protocol/root/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { rootUri } from '@atrium/protocol/uri'
import { onlyWaits } from './call.ts'
import { Decisions } from './decisions.ts'
import { Deeds } from './deeds.ts'
import type { Disk } from './disk.ts'
import { Homes } from './homes.ts'
import type { Fact, Truth } from './truth.ts'
import { answers, begins, wasInterrupted } from './word.ts'
import type { Word } from './word.ts'
import { Uses } from './uses.ts'

type Fail = (invariant: string, problem: string) => void

/** What must be true of sessions, chats and turns after every single step that the store is given. */
export class Laws {
  readonly #truth: Truth
  readonly #disk: Disk
  readonly #fail: Fail
  readonly #homes: Homes
  readonly #decisions: Decisions
  readonly deeds: Deeds
  readonly uses: Uses
  /** The starts of turns that an agent was run for, each with how much was durable then, and in which life. */
  readonly #ran = new Map<string, { readonly durable: number; readonly life: number }>()
  /** Transactions from this one on are of the present life. */
  #life = 0

  constructor(truth: Truth, disk: Disk, fail: Fail) {
    this.#truth = truth
    this.#disk = disk
    this.#fail = fail
    this.#homes = new Homes(truth, fail)
    this.uses = new Uses(truth, disk, this.#homes)
    this.#decisions = new Decisions(truth, this.#homes, fail)
    this.deeds = new Deeds(truth, disk, fail)
  }

  sessionOf(chat: Uri): Uri | undefined {
    return this.#homes.of(chat)
  }

  step(step: Step, at: number): void {
    const touched = new Set([...step.created, ...step.envelopes].map(({ channel }) => channel))
    for (const uri of touched) if (this.#homes.look(uri)) this.uses.add(uri, at)
    for (const [place, envelope] of step.envelopes.entries()) {
      const { channel, seq } = envelope
      if (envelope.action.includes('atrium.permissions'))
        this.#decisions.rules(channel, envelope, step.envelopes.slice(0, place))
      const fact = channel.startsWith('ahp-chat:') ? this.#truth.fact(channel, seq) : undefined
      if (fact) this.#word(channel, fact, step.envelopes.slice(place + 1))
    }
    for (const { channel, action } of step.envelopes)
      this.uses.word(channel, JSON.parse(action) as Action, at)
    for (const uri of touched) this.uses.look(uri, at)
    for (const uri of touched) this.#rollup(uri)
    for (const session of new Set([...touched].map((uri) => this.#homes.of(uri) ?? uri)))
      this.deeds.picture(session)
    if (step.dropped.length === 0 && touched.size === 0) return
    this.#employ()
    this.#count()
    this.#homes.judge()
  }

  /** So many transactions are left: what was only known from later ones is not known. */
  crashed(left: number): void {
    this.#homes.forget()
    this.#homes.judge()
    this.deeds.crashed(left)
    this.uses.crashed(left)
    for (const [key, { durable }] of this.#ran) if (durable > left) this.#ran.delete(key)
  }

  /** I6, I7: an agent is run for a turn that surely began, in a session that surely is ready, and never again. */
  runs(chat: Uri, turnId: string): void {
    const begun = this.#begun(chat, turnId)
    if (!begun || !this.#safe(begun))
      return this.#fail('I7', `an agent runs ${turnId} of ${chat} before its start was durable`)
    const facts = this.#truth.stories.get(this.#homes.of(chat) ?? '')?.facts ?? []
    if (!facts.some((fact) => fact.action.type === 'session/ready' && this.#safe(fact)))
      this.#fail('I7', `an agent runs ${turnId} of ${chat} before its session was ready`)
    if ((this.#state(chat) as ChatState).activeTurn?.id !== turnId)
      this.#fail('I17', `an agent runs ${turnId} of ${chat}, which is over`)
    const key = `${chat} ${begun.seq}`
    const ran = this.#ran.get(key)
    if (ran && (ran.life === this.#life || !this.#answered(chat, begun)))
      this.#fail('I6', `an agent runs ${turnId} of ${chat} a second time`)
    this.#ran.set(key, { durable: this.#disk.durable, life: this.#life })
  }

  creates(session: Uri): void {
    const story = this.#truth.living(session)
    if (!story || story.born.at >= this.#disk.durable)
      return this.#fail('I7', `an agent makes ${session} before that was durable`)
    if (this.#session(session)?.lifecycle !== 'creating')
      this.#fail('I6', `an agent makes ${session} a second time`)
  }

  /** A life begins. */
  begins(): void {
    this.#life = this.#disk.transactions.length
    this.deeds.begins(this.chats())
  }

  /** A life has begun: what agents worked on in the one before has ended. */
  begun(): void {
    for (const [uri, { activeTurn }] of this.chats()) {
      const start = activeTurn && this.#begun(uri, activeTurn.id)
      const before = start && (this.#ran.get(`${uri} ${start.seq}`)?.life ?? this.#life) < this.#life
      if (before && !onlyWaits(activeTurn))
        this.#fail('I17', `${activeTurn.id} of ${uri} was being worked on, and goes on after a start`)
    }
    this.deeds.begun(this.#living('ahp-session:'))
  }

  /** A turn of a life before goes on once somebody has answered it, and waits for nobody else. */
  waits(chat: Uri, turn: ActiveTurn): boolean {
    return (this.#begun(chat, turn.id)?.at ?? Infinity) < this.#life && onlyWaits(turn)
  }

  #answered(chat: Uri, { seq: begun }: Fact): boolean {
    const { activeTurn } = this.#state(chat) as ChatState
    const facts = this.#truth.stories.get(chat)?.facts ?? []
    const answered = facts.some(
      ({ seq, action, at = 0 }) => answers.has(action.type) && seq > begun && at >= this.#life,
    )
    return answered && activeTurn !== undefined && !onlyWaits(activeTurn)
  }

  /** Every chat that is there, with its state. */
  chats(): readonly (readonly [Uri, ChatState])[] {
    const known = this.#living('ahp-chat:').filter((uri) => this.sessionOf(uri) !== undefined)
    return known.map((uri) => [uri, this.#state(uri) as ChatState] as const)
  }

  /** Chats that are being made, and that nobody knows of. */
  unborn(): readonly Uri[] {
    return this.#living('ahp-chat:').filter((uri) => this.sessionOf(uri) === undefined)
  }

  sessions(): readonly (readonly [Uri, SessionState])[] {
    return this.#living('ahp-session:').map((uri) => [uri, this.#state(uri) as SessionState] as const)
  }

  #living(prefix: string): readonly Uri[] {
    return [...this.#truth.stories.keys()].filter((uri) => uri.startsWith(prefix) && this.#truth.living(uri))
  }

  #state(uri: Uri): unknown {
    return this.#truth.stateAt(uri, Infinity)
  }

  #session(uri: Uri): SessionState | undefined {
    return this.#truth.living(uri) && (this.#state(uri) as SessionState)
  }

  #safe({ at = Infinity }: Fact): boolean {
    return at < this.#disk.durable
  }

  /** When a turn was last begun, or begun again. */
  #begun(chat: Uri, turnId: string): Fact | undefined {
    return this.#truth.stories
      .get(chat)
      ?.facts.findLast(({ action }) => begins.has(action.type) && (action as Word).turnId === turnId)
  }

  /** A turn begins once, and all that is said of it is said until it has ended, once. */
  #word(chat: Uri, fact: Fact, later: Step['envelopes']): void {
    const { seq, action, origin } = fact
    const before = this.#truth.stateAt(chat, seq - 1) as ChatState
    const { turnId, kind, id } = action as Word
    const said = `${seq} ${action.type} of ${turnId} in ${chat}`
    if (begins.has(action.type)) {
      if (before.activeTurn) this.#fail('I17', `${said} was said while a turn was active`)
    } else if (turnId !== undefined && action.type !== 'chat/truncated' && before.activeTurn?.id !== turnId)
      this.#fail('I17', `${said} was said when that turn was not active`)
    this.#decisions.word(chat, fact, before, later)
    if (action.type === 'chat/turnStarted') this.#once(chat, seq, action, before)
    if (wasInterrupted(action) && !this.#wasReady(chat))
      this.#fail('I17', `${turnId} of ${chat} was interrupted, and nobody had begun with it`)
    // The host takes a message out of the queue to begin with it, in the same step.
    if (action.type !== 'chat/pendingMessageRemoved' || kind !== 'queued' || origin) return
    const next = later.find(({ channel }) => channel === chat)
    if (next && (JSON.parse(next.action) as Word).queuedMessageId === id) return
    this.#fail('L1', `${id} was taken out of the queue of ${chat} and not begun`)
  }

  /** No turn has the id of another, and no message of a queue becomes two of them. */
  #once(chat: Uri, seq: number, { turnId, queuedMessageId }: Word, { turns }: ChatState): void {
    if (turns.some(({ id }) => id === turnId)) this.#fail('I6', `${turnId} of ${chat} was begun twice`)
    const facts = this.#truth.stories.get(chat)?.facts ?? []
    const same = (fact: Fact) => (fact.action as Word).queuedMessageId === queuedMessageId
    if (queuedMessageId !== undefined && facts.some((fact) => fact.seq < seq && same(fact)))
      this.#fail('I6', `${queuedMessageId} of the queue of ${chat} became two turns`)
  }

  /** Before this life, so that an agent may have worked there. */
  #wasReady(chat: Uri): boolean {
    const facts = this.#truth.stories.get(this.#homes.of(chat) ?? '')?.facts ?? []
    return facts.some(({ action, at = Infinity }) => action.type === 'session/ready' && at < this.#life)
  }

  /** A session's entry of a chat says what the chat says, and its activity is its speaker's. */
  #rollup(uri: Uri): void {
    const session = this.#homes.of(uri) ?? uri
    const state = session.startsWith('ahp-session:') ? this.#session(session) : undefined
    if (!state) return
    for (const entry of state.chats) {
      const { status, activity = '', modifiedAt } = (this.#state(entry.resource) ?? {}) as Partial<ChatState>
      if (!this.#truth.living(entry.resource))
        this.#fail('I18', `${session} has an entry of ${entry.resource}, which is not there`)
      else if (
        entry.status !== status ||
        (entry.activity ?? '') !== activity ||
        entry.modifiedAt !== modifiedAt
      )
        this.#fail('I18', `the entry of ${entry.resource} in ${session} is another than the chat`)
      if ((this.#state(entry.resource) as ChatState | undefined)?.activeTurn === undefined && activity !== '')
        this.#fail('I17', `${entry.resource} says what it does (${activity}), and has no turn`)
    }
  }

  /** I17: a worker has a turn only as long as its employer has one. */
  #employ(): void {
    for (const [uri, { activeTurn, origin }] of this.chats()) {
      if (!activeTurn || origin?.kind !== 'tool') continue
      const employer = this.#truth.living(origin.chat) && (this.#state(origin.chat) as ChatState)
      if (!employer?.activeTurn) this.#fail('I17', `${uri} works for ${origin.chat}, which has no turn`)
    }
  }

  #count(): void {
    const { activeSessions = 0 } = (this.#state(rootUri) ?? {}) as RootState
    const used = this.#living('ahp-session:').filter((uri) => this.uses.has(uri)).length
    if (activeSessions !== used) this.#fail('I19', `the root counts ${activeSessions} sessions of ${used}`)
  }
}
