import type { Action } from '@atrium/protocol/channel'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import type { ChatState, ErrorPart } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import type { SessionAction } from '@atrium/protocol/session/actions'
import { Activity, activityMask } from '@atrium/protocol/status'
import { compact } from '@atrium/protocol/update'
import { isWritable } from '../core/lookup.ts'
import { callIn } from '@atrium/protocol/chat/calls'
import { withApproval, unapproved } from '../tools/approval.ts'
import type { FileAccess } from '../tools/approval.ts'
import { shellAgent } from '../agents/shell-agent.ts'
import { readAttachment } from './attachment.ts'
import { tokenFor } from '../auth/auth.ts'
import { TextBatch, textDeltaOf } from './text-batch.ts'
import type { Channel } from '../log/channel.ts'
import type { Core } from '../core/core.ts'
import { keepBytes } from '../resources/content.ts'
import { cursorBefore } from '../channels/cursor.ts'
import { execute, commandOutcome } from '../terminal/execute.ts'
import { turnsBefore } from '../channels/history.ts'
import { isLarge, externalized } from '../resources/large-output.ts'
import type { Agent, Chat, Command, RunningCommand, AgentAction, Task, Worker } from '../ports/agent.ts'
import { TurnFailed, failureOf } from '../ports/agent.ts'
import { storedForm, parseAgentAction } from './agent-output.ts'
import { Previews } from '../tools/previewed.ts'
import { toolFiles } from '../tools/tool-files.ts'
import type { Job } from '../core/jobs.ts'

/** After so long without a word, in milliseconds, a chat says that its agent is silent; then after twice that, and so on. */
const silenceMs = 30_000

/** Makes a worker's chat for a task of a turn, and lets it begin. */
export type Spawn = (
  core: Core,
  parent: Channel<'chat'>,
  task: Task,
) => { worker: Channel<'chat'>; turnId: string }

/**
 * One agent at work on one turn. It ends exactly once, whatever agent, client or host does: whoever ends it first has
 * ended it, and nothing that comes later is heard.
 */
export class Turn implements Job {
  readonly #core: Core
  readonly #channel: Channel<'chat'>
  readonly #session: Channel<'session'>
  readonly #agent: Agent
  readonly #spawn: Spawn
  readonly #turnId: string
  readonly #began: number
  readonly #abort = new AbortController()
  readonly #batch: TextBatch
  readonly #previews = new Previews()
  /** What the agent itself says it is doing, while the host says that it is silent. */
  #activity: string | undefined
  /** For how long it was shown to be silent, in milliseconds. */
  #silence = 0
  #lastOutputAt: number
  #undoListening = () => {}
  #leave = () => {}

  constructor(core: Core, channel: Channel<'chat'>, session: Channel<'session'>, agent: Agent, spawn: Spawn) {
    this.#core = core
    this.#channel = channel
    this.#session = session
    this.#agent = agent
    this.#spawn = spawn
    this.#turnId = channel.head.activeTurn?.id ?? ''
    this.#began = core.world.now()
    this.#lastOutputAt = this.#began
    const speak = (whole: Action, words: readonly Action[]) => {
      if (!this.#over) core.log.appendText(channel, whole, words)
    }
    this.#batch = new TextBatch(core.world, speak, () => channel.wantsEach)
  }

  async run(): Promise<void> {
    this.#listen(silenceMs)
    let iterator: AsyncIterator<AgentAction> | undefined
    try {
      iterator = this.#agent.run(this.#chat(), this.#abort.signal)[Symbol.asyncIterator]()
      for (let next = await this.#next(iterator); next; next = await this.#next(iterator)) {
        if (next.done) return this.#end({ type: 'chat/turnComplete', ...this.#ending })
        this.#say(this.#isLarge(next.value) ? await this.#externalized(next.value) : next.value)
        if (this.#crowded) await this.#yieldToOthers()
      }
    } catch (error) {
      this.#fail(error)
    }
    await left(iterator)
  }

  stop(): void {
    this.#undoListening()
    this.#batch.drop()
    this.#abort.abort()
    this.#leave()
  }

  get #over(): boolean {
    return this.#abort.signal.aborted
  }

  get #duration(): number {
    return Math.max(0, this.#core.world.now() - this.#began)
  }

  get #ending(): { turnId: string; duration: number } {
    return { turnId: this.#turnId, duration: this.#duration }
  }

  #isLarge(said: AgentAction): boolean {
    return !this.#over && isLarge(said, this.#core.limits.inlineLength)
  }

  /** What is too large for the state is put elsewhere first. */
  #externalized(said: AgentAction): Promise<AgentAction> {
    return externalized(this.#core, this.#session.uri, said)
  }

  #say(said: AgentAction): void {
    if (this.#over) return
    this.#lastOutputAt = this.#core.world.now()
    const word = textDeltaOf(said, this.#turnId)
    if (word && this.#silence === 0) return this.#batch.add(word)
    const { of, action } = parseAgentAction(said, this.#turnId)
    if (said.type === 'chat/activityChanged') this.#activity = said.activity
    if (this.#silence > 0) this.#speaksAgain()
    if (of === 'session') this.#sayOfSession(action as SessionAction)
    else this.#append(this.#channel, this.#judged(action))
  }

  /** What an agent asks for, with what people need to know of it, or answered for them. */
  #judged(action: Action): Action {
    const noted = this.#previews.record(action, this.#channel.head)
    return withApproval(this.#core, this.#session, this.#channel, noted)
  }

  /** What was said before it comes before it, in the same step. */
  #append(channel: Channel, action: Action): void {
    this.#batch.flush()
    this.#core.log.appendChecked(channel, action)
  }

  /** A name that a client gave stays. */
  #sayOfSession(action: SessionAction): void {
    const { uri, head } = this.#session
    if (action.type === 'session/titleChanged' && this.#core.catalog.hasTitle(uri)) return
    this.#append(this.#session, storedForm(action, head))
  }

  #fail(error: unknown): void {
    if (this.#over) return
    const known = error instanceof TurnFailed
    if (!known) this.#core.world.report('agent failed', error)
    const part = compact<ErrorPart>({
      kind: 'error',
      error: failureOf(error),
      resumable: (known && error.resumable && this.#resumable) || undefined,
    })
    this.#end({ type: 'chat/error', ...this.#ending, part })
  }

  get #resumable(): boolean {
    return this.#agent.resumes && isWritable(this.#session, this.#channel.uri)
  }

  #end(action: ChatAction): void {
    // The append finds the turn ended, and stops this.
    if (!this.#over) this.#append(this.#channel, action)
  }

  /** There is no room for another word, or others have not been heard for long. */
  get #crowded(): boolean {
    const { congested, diskFull } = this.#core.log
    return congested || diskFull || this.#batch.full
  }

  async #yieldToOthers(): Promise<void> {
    this.#batch.end()
    await this.#core.log.space()
    await new Promise<void>((resolve) => this.#core.world.later(0, resolve))
  }

  /** Silence is shown and never held against the agent. A person who is asked may take as long as they like. */
  #listen(wait: number): void {
    const { world } = this.#core
    this.#undoListening = world.later(wait, () => {
      const asked = (this.#channel.head.status & activityMask) === Activity.InputNeeded
      if (asked) this.#lastOutputAt = world.now()
      const silent = world.now() - this.#lastOutputAt
      const shown = this.#silence
      while (silent >= this.#nextSilence) this.#silence = this.#nextSilence
      if (this.#silence > shown)
        this.#show(`${this.#agent.info.displayName} has been silent for ${spoken(this.#silence)}`)
      // The clock may have jumped, in any direction.
      this.#listen(Math.min(this.#nextSilence, Math.max(1, this.#nextSilence - silent)))
    })
  }

  get #nextSilence(): number {
    return this.#silence === 0 ? silenceMs : 2 * this.#silence
  }

  #speaksAgain(): void {
    this.#silence = 0
    this.#show(this.#activity)
  }

  #show(activity: string | undefined): void {
    this.#append(this.#channel, compact<ChatAction>({ type: 'chat/activityChanged', activity }))
  }

  #chat(): Chat {
    const channel = this.#channel
    const session = this.#session
    return {
      uri: channel.uri,
      turnId: this.#turnId,
      get state() {
        return channel.committedState
      },
      get session() {
        return session.committedState
      },
      sessionUri: session.uri,
      when: (wished) => this.#when(channel, wished),
      spawn: (task) => this.#work(task),
      run: (command) => this.#execute(command),
      files: toolFiles(this.#core, session, channel, this.#previews, (toolCallId, deed) =>
        this.#approved(toolCallId, deed),
      ),
      before: async (turnId) => {
        if (this.#over) throw stopped()
        return (await turnsBefore(this.#core, channel, { cursor: cursorBefore({ id: turnId }) })).turns
      },
      keep: (bytes, contentType) =>
        this.#over ? Promise.reject(stopped()) : keepBytes(this.#core, session.uri, bytes, contentType),
      read: (attachment) =>
        this.#over
          ? Promise.reject(stopped())
          : readAttachment(this.#core, this.#core.owners.of(session.uri), attachment),
      token: (resource) =>
        this.#over
          ? undefined
          : tokenFor(this.#core, { chat: channel, session, agent: this.#agent }, resource),
    }
  }

  #work(task: Task): Worker {
    if (this.#over) throw stopped()
    this.#batch.flush()
    const { worker, turnId } = this.#spawn(this.#core, this.#channel, task)
    const done = this.#when(worker, ({ turns }) => turns.some(({ id }) => id === turnId))
    return { chat: worker.uri, done }
  }

  async #execute(command: Command): Promise<RunningCommand> {
    if (this.#over) throw stopped()
    this.#batch.flush()
    await this.#approved(command.toolCallId)
    const { signal } = this.#abort
    const place = { session: this.#session, chat: this.#channel, turnId: this.#turnId, signal }
    const { terminal, job } = await execute(this.#core, place, command).catch((error: unknown) => {
      throw this.#over ? stopped() : error
    })
    // Whoever is asked again in the midst of it may say no.
    this.#when(this.#channel, (state) => isDecided(callIn(state, command.toolCallId))).then(
      (state) => callIn(state, command.toolCallId)?.status === 'cancelled' && void job.stop(),
      () => {},
    )
    const done = job.ended.then(() => {
      if (this.#over) throw stopped()
      return commandOutcome(terminal)
    })
    done.catch(() => {})
    return {
      terminal: terminal.uri,
      done,
      soFar: () => commandOutcome(terminal),
      end: () => job.stop(),
    }
  }

  /**
   * What is said of a call is told before the call does anything, and it must have been approved (I7). A line that a person
   * wrote themselves needs nobody's approval.
   */
  async #approved(toolCallId: string, deed?: FileAccess): Promise<void> {
    await this.#core.log.reached(this.#core.log.last)
    if (this.#over) throw stopped()
    const reason = this.#agent === shellAgent ? undefined : unapproved(this.#channel, toolCallId, deed)
    if (reason !== undefined) throw new TurnFailed('permission', reason)
  }

  #when(channel: Channel<'chat'>, wished: (state: ChatState) => boolean): Promise<ChatState> {
    const there = () => this.#core.log.channel(channel.uri) === channel
    const look = (state: ChatState) => this.#over || !there() || wished(state)
    const found = this.#core.log.when(channel, look).then(() => {
      if (this.#over) throw stopped()
      const state = channel.committedState
      if (!there() && !wished(state)) throw new TurnFailed('workers', 'the chat of the worker is gone')
      return state
    })
    // An agent that does not look at it any more must not end the host.
    found.catch(() => {})
    return found
  }

  /** The next word; nothing when the turn was ended meanwhile, whether the agent heeds that or not. */
  #next(iterator: AsyncIterator<AgentAction>): Promise<IteratorResult<AgentAction> | undefined> {
    return new Promise((resolve, reject) => {
      this.#leave = () => resolve(undefined)
      if (this.#over) this.#leave()
      else iterator.next().then(resolve, reject)
    })
  }
}

/** An agent in the midst of something learns that it is not heard any more, and comes to its end unheard. */
async function left(iterator: AsyncIterator<AgentAction> | undefined): Promise<void> {
  try {
    await iterator?.return?.()
  } catch {
    // There is nobody whom it could be told to.
  }
}

function isDecided(call: ToolCallState | undefined): boolean {
  return call === undefined || call.status === 'cancelled' || call.status === 'completed'
}

function stopped(): Error {
  return new Error('the turn is over')
}

function spoken(ms: number): string {
  const seconds = Math.round(ms / 1000)
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`
}
