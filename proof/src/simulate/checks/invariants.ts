import type { Step } from '@atrium/host/ports/log'
import type { Action, Uri } from '@atrium/protocol/channel'
import type { ActiveTurn, ChatState, ChatSummary } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { agrees, turnProblem } from '../../judge/rules.ts'
import { waitsOnlyForAnswers } from '../tool-calls.ts'
import { Decisions } from './decisions.ts'
import { CallEffects } from './call-effects.ts'
import type { Disk } from '../disk.ts'
import { ChatIndex } from './chat-index.ts'
import { checkChoices } from './choices.ts'
import type { ModelEntry, ReferenceModel } from './reference-model.ts'
import { answers, turnStarts, wasInterrupted } from '../turn-actions.ts'
import type { TurnAction } from '../turn-actions.ts'
import { countReference, textProblem } from './text-length.ts'
import { UsedSessions } from './used-sessions.ts'

type Fail = (invariant: string, problem: string) => void

/** Invariants of sessions, chats and turns, checked after every step that the store receives. */
export class Invariants {
  readonly #model: ReferenceModel
  readonly #disk: Disk
  readonly #fail: Fail
  readonly #chatIndex: ChatIndex
  readonly #decisions: Decisions
  readonly callEffects: CallEffects
  readonly usedSessions: UsedSessions
  /** Turn starts that an agent was run for, each with the number of durable transactions and the host run at that time. */
  readonly #ran = new Map<string, { readonly durable: number; readonly runStart: number }>()
  /** Transactions from this index on belong to the current host run. */
  #runStart = 0

  constructor(model: ReferenceModel, disk: Disk, fail: Fail, inAdvance: boolean) {
    this.#model = model
    this.#disk = disk
    this.#fail = fail
    this.#chatIndex = new ChatIndex(model, fail)
    this.usedSessions = new UsedSessions(model, disk, this.#chatIndex, inAdvance)
    this.#decisions = new Decisions(model, this.#chatIndex, fail)
    this.callEffects = new CallEffects(model, disk, fail)
  }

  sessionOf(chat: Uri): Uri | undefined {
    return this.#chatIndex.sessionOf(chat)
  }

  step(step: Step, at: number): void {
    const touched = new Set([...step.created, ...step.envelopes].map(({ channel }) => channel))
    this.#observeMoves(step, at)
    for (const uri of touched) if (this.#chatIndex.update(uri)) this.usedSessions.add(uri, at)
    for (const [place, envelope] of step.envelopes.entries()) {
      const { channel, seq } = envelope
      countReference(envelope.action)
      if (envelope.action.includes('atrium.permissions'))
        this.#decisions.checkPermissions(channel, envelope, step.envelopes.slice(0, place))
      const isChat = this.#model.channels.get(channel)?.kind.name === 'chat'
      const entry = isChat ? this.#model.entry(channel, seq) : undefined
      if (entry) this.#checkTurnAction(channel, entry, step.envelopes.slice(place + 1))
    }
    for (const { channel } of step.created) this.usedSessions.observeCreation(channel, at)
    for (const { channel, action } of step.envelopes)
      this.usedSessions.observeAction(channel, JSON.parse(action) as Action, at)
    for (const uri of touched) this.usedSessions.observeState(uri, at)
    checkChoices(this.#model, step, this.#fail)
    for (const uri of touched) this.#checkSummary(uri)
    for (const uri of touched) this.#checkText(uri)
    for (const session of new Set([...touched].map((uri) => this.#chatIndex.sessionOf(uri) ?? uri)))
      this.callEffects.checkInputNeeded(session)
    if (step.dropped.length === 0 && touched.size === 0) return
    this.#checkWorkers()
    this.#checkSessionCount()
    this.#chatIndex.check()
  }

  /**
   * Called when a crash has left this many transactions. Forgets everything that only later transactions contained.
   */
  crashed(left: number): void {
    this.#chatIndex.rebuild()
    this.#chatIndex.check()
    this.callEffects.crashed(left)
    this.usedSessions.crashed(left)
    for (const [key, { durable }] of this.#ran) if (durable > left) this.#ran.delete(key)
  }

  /**
   * Called when an agent runs for a turn. Checks I6 and I7: the start of the turn is durable, its session is durably
   * ready, and the agent runs once.
   */
  runs(chat: Uri, turnId: string): void {
    const begun = this.#lastStart(chat, turnId)
    if (!begun || !this.#isDurable(begun))
      return this.#fail('I7', `an agent runs ${turnId} of ${chat} before its start was durable`)
    const entries = this.#model.channels.get(this.#chatIndex.sessionOf(chat) ?? '')?.entries ?? []
    if (!entries.some((entry) => entry.action.type === 'session/ready' && this.#isDurable(entry)))
      this.#fail('I7', `an agent runs ${turnId} of ${chat} before its session was ready`)
    if (this.#model.chat(chat)?.activeTurn?.id !== turnId)
      this.#fail('I17', `an agent runs ${turnId} of ${chat}, which is over`)
    const key = `${chat} ${begun.seq}`
    const ran = this.#ran.get(key)
    if (ran && (ran.runStart === this.#runStart || !this.#answered(chat, begun)))
      this.#fail('I6', `an agent runs ${turnId} of ${chat} a second time`)
    this.#ran.set(key, { durable: this.#disk.durable, runStart: this.#runStart })
  }

  creates(session: Uri): void {
    const history = this.#model.live(session)
    if (!history || history.created.at >= this.#disk.durable)
      return this.#fail('I7', `an agent creates ${session} before the session was durable`)
    if (this.#session(session)?.lifecycle !== 'creating')
      this.#fail('I6', `an agent creates ${session} a second time`)
  }

  /** Called when a host run begins. */
  hostStarting(): void {
    this.#runStart = this.#disk.transactions.length
    this.callEffects.hostStarting(this.chats())
  }

  /**
   * Called when the host has started. Checks that every turn that an agent worked on before has ended, unless the
   * turn waits only for answers.
   */
  hostStarted(): void {
    for (const [uri, { activeTurn }] of this.chats()) {
      const start = activeTurn && this.#lastStart(uri, activeTurn.id)
      const before =
        start && (this.#ran.get(`${uri} ${start.seq}`)?.runStart ?? this.#runStart) < this.#runStart
      if (before && !waitsOnlyForAnswers(activeTurn))
        this.#fail(
          'I17',
          `${activeTurn.id} of ${uri} was being worked on before the restart, and is still active`,
        )
    }
    this.callEffects.hostStarted(this.#liveUris('ahp-session:'))
  }

  /** Whether a turn of an earlier host run waits only for answers. Such a turn resumes after the last answer. */
  waits(chat: Uri, turn: ActiveTurn): boolean {
    return (this.#lastStart(chat, turn.id)?.at ?? Infinity) < this.#runStart && waitsOnlyForAnswers(turn)
  }

  #answered(chat: Uri, { seq: begun }: ModelEntry): boolean {
    const activeTurn = this.#model.chat(chat)?.activeTurn
    const entries = this.#model.channels.get(chat)?.entries ?? []
    const answered = entries.some(
      ({ seq, action, at = 0 }) => answers.has(action.type) && seq > begun && at >= this.#runStart,
    )
    return answered && activeTurn !== undefined && !waitsOnlyForAnswers(activeTurn)
  }

  /** Returns every chat that is visible, with its state. */
  chats(): readonly (readonly [Uri, ChatState])[] {
    const known = this.#liveUris('ahp-chat:').filter((uri) => this.sessionOf(uri) !== undefined)
    return known.flatMap((uri) => {
      const state = this.#model.chat(uri)
      return state ? [[uri, state] as const] : []
    })
  }

  /** Returns the chats that are being created and are not visible yet. */
  stagedChats(): readonly Uri[] {
    return this.#liveUris('ahp-chat:').filter((uri) => this.sessionOf(uri) === undefined)
  }

  sessions(): readonly (readonly [Uri, SessionState])[] {
    return this.#liveUris('ahp-session:').flatMap((uri) => {
      const state = this.#model.session(uri)
      return state ? [[uri, state] as const] : []
    })
  }

  #liveUris(prefix: string): readonly Uri[] {
    return this.#model.liveUris(prefix)
  }

  #session(uri: Uri): SessionState | undefined {
    return this.#model.live(uri) && this.#model.session(uri)
  }

  #isDurable({ at = Infinity }: ModelEntry): boolean {
    return at < this.#disk.durable
  }

  /** Returns the action that last started or resumed a turn. */
  #lastStart(chat: Uri, turnId: string): ModelEntry | undefined {
    return this.#model.channels
      .get(chat)
      ?.entries.findLast(
        ({ action }) => turnStarts.has(action.type) && (action as TurnAction).turnId === turnId,
      )
  }

  /** Checks I17: a turn starts once, and every action on it comes before its only end. */
  #checkTurnAction(chat: Uri, entry: ModelEntry, later: Step['envelopes']): void {
    const { seq, action, origin } = entry
    const before = this.#model.stateAt(chat, seq - 1) as ChatState
    const { turnId, kind, id } = action as TurnAction
    const problem = turnProblem(before, action)
    if (problem !== undefined) this.#fail('I17', `${problem}, at ${seq} of ${chat}`)
    this.#decisions.check(chat, entry, before, later)
    if (action.type === 'chat/turnStarted') this.#checkUnique(chat, seq, action, before)
    if (wasInterrupted(action) && !this.#wasReady(chat))
      this.#fail('I17', `${turnId} of ${chat} was interrupted, but no agent had started it`)
    // The host removes a message from the queue only to start its turn in the same step.
    if (action.type !== 'chat/pendingMessageRemoved' || kind !== 'queued' || origin) return
    // Held messages wait for a user (H9.7), so the host must not start them. The only message of a queue is not
    // checked: it may have been queued just now, and then it starts at once.
    const last = before.turns.at(-1)?.state
    if ((last === 'cancelled' || last === 'error') && (before.queuedMessages ?? []).length > 1)
      this.#fail('I17', `${id} of ${chat} was started, although the queue is held`)
    const next = later.find(({ channel }) => channel === chat)
    if (next && (JSON.parse(next.action) as TurnAction).queuedMessageId === id) return
    this.#fail('L1', `${id} was removed from the queue of ${chat} and not started`)
  }

  /** Checks I6: no two turns have the same id, and no queued message starts two turns. */
  #checkUnique(chat: Uri, seq: number, { turnId, queuedMessageId }: TurnAction, { turns }: ChatState): void {
    if (turns.some(({ id }) => id === turnId)) this.#fail('I6', `${turnId} of ${chat} was started twice`)
    const entries = this.#model.channels.get(chat)?.entries ?? []
    const same = (entry: ModelEntry) => (entry.action as TurnAction).queuedMessageId === queuedMessageId
    if (queuedMessageId !== undefined && entries.some((entry) => entry.seq < seq && same(entry)))
      this.#fail('I6', `${queuedMessageId} of the queue of ${chat} became two turns`)
  }

  /** Whether the session was ready before this host run, so that an agent may have worked there. */
  #wasReady(chat: Uri): boolean {
    const entries = this.#model.channels.get(this.#chatIndex.sessionOf(chat) ?? '')?.entries ?? []
    return entries.some(({ action, at = Infinity }) => action.type === 'session/ready' && at < this.#runStart)
  }

  /** Checks I18: a session's entry of a chat agrees with the chat. I17: only a chat with a turn has an activity. */
  #checkSummary(uri: Uri): void {
    const session = this.#chatIndex.sessionOf(uri) ?? uri
    const state = session.startsWith('ahp-session:') ? this.#session(session) : undefined
    if (!state) return
    for (const entry of state.chats) {
      const chat: Partial<ChatState> = this.#model.chat(entry.resource) ?? {}
      if (!this.#model.live(entry.resource))
        this.#fail('I18', `${session} has an entry of ${entry.resource}, which does not exist`)
      else if (!agrees(entry, chat))
        this.#fail('I18', `the entry of ${entry.resource} in ${session} differs from the chat`)
      if (chat.activeTurn === undefined && (chat.activity ?? '') !== '')
        this.#fail('I17', `${entry.resource} has the activity "${chat.activity}", but no turn`)
    }
  }

  #checkText(chat: Uri): void {
    const problem = chat.startsWith('ahp-chat:') ? textProblem(this.#model, chat) : undefined
    if (problem !== undefined) this.#fail('I10', problem)
  }

  /**
   * Checks I17: a worker, a chat that does a task for another chat (its employer), has a turn only while its employer
   * has one.
   */
  #checkWorkers(): void {
    for (const [uri, { activeTurn, origin }] of this.chats()) {
      if (!activeTurn || origin?.kind !== 'tool') continue
      const employer = this.#model.live(origin.chat) && this.#model.chat(origin.chat)
      if (!employer?.activeTurn) this.#fail('I17', `${uri} is a worker of ${origin.chat}, which has no turn`)
    }
  }

  /** Marks a session as used if a chat moves to it, even if the chat moves on in the same step. */
  #observeMoves({ envelopes }: Step, at: number): void {
    for (const { channel, action } of envelopes) {
      if (!action.includes('"session/chatAdded"')) continue
      const { summary } = JSON.parse(action) as { readonly summary: ChatSummary }
      const from = this.#chatIndex.sessionOf(summary.resource)
      if (from !== undefined && from !== channel) this.usedSessions.add(channel, at)
    }
  }

  #checkSessionCount(): void {
    const activeSessions = this.#model.root()?.activeSessions ?? 0
    const used = this.#liveUris('ahp-session:').filter((uri) => this.usedSessions.has(uri)).length
    if (activeSessions !== used) this.#fail('I19', `the root counts ${activeSessions} sessions of ${used}`)
  }
}
