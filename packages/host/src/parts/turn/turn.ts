import { catalogOf } from '../../catalog/catalog.ts'
import { customizationsOf } from '../../catalog/customizing.ts'
import { changesOf } from '../../catalog/change-tracking.ts'
import type { Action } from '@atrium/protocol/channel'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import type { ErrorPart } from '@atrium/protocol/chat/state'
import type { SessionAction } from '@atrium/protocol/session/actions'
import { Activity, activityMask } from '@atrium/protocol/status'
import { compact } from '@atrium/protocol/update'
import { notifySession } from '../auth/notices.ts'
import { hasRoom } from '../../channels/state-length.ts'
import type { Core } from '../../kernel/core.ts'
import type { Job } from '../../kernel/jobs.ts'
import { isWritable } from '../../catalog/lookup.ts'
import { withTimeout } from '../../kernel/timeout.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Agent, AgentAction } from '../../ports/agent.ts'
import { SignInRequired, TurnFailed, failureOf } from '../../ports/agent.ts'
import { withApproval } from '../tools/approval.ts'
import { providerOnly } from '../tools/client-tools.ts'
import { Previews } from '../tools/previewed.ts'
import { agentChat } from './agent-chat.ts'
import { requireConsent } from './consent.ts'
import type { RunningTurn, TurnContext } from './running-turn.ts'
import { storedForm, parseAgentAction } from './agent-output.ts'
import { SilenceTimer } from './silence-timer.ts'
import { TextBatch, textDeltaOf } from './text-batch.ts'
import { TurnHooks } from './turn-hooks.ts'
import { TurnRoom, restMs } from './turn-room.ts'

/**
 * One agent at work on one turn. A turn ends exactly once: its agent, a client or the host ends it. Output that the agent
 * produces after the end is discarded.
 */
export class Turn implements Job {
  readonly #core: Core
  readonly #chat: Channel<'chat'>
  readonly #session: Channel<'session'>
  readonly #agent: Agent
  readonly #running: RunningTurn
  readonly #startedAt: number
  readonly #abort = new AbortController()
  readonly #batch: TextBatch
  readonly #room: TurnRoom
  readonly #silence: SilenceTimer
  readonly #hooks: TurnHooks
  /** The activity that the agent last reported. A silence notice hides it until the next output. */
  #activity: string | undefined
  /** Resolves when the last `#publishRest` has ended. */
  #resting: Promise<void> = Promise.resolve()
  /** Ends the wait for the agent's next action. */
  #stopWaiting = () => {}

  constructor(context: TurnContext) {
    const { core, chat, session, agent } = context
    this.#core = core
    this.#chat = chat
    this.#session = session
    this.#agent = agent
    this.#startedAt = core.world.now()
    const appendText = (merged: Action, deltas: readonly Action[]) => {
      if (!this.#over) core.log.appendText(chat, merged, deltas)
    }
    this.#batch = new TextBatch(core.world, appendText, () => chat.wantsEach)
    this.#room = new TurnRoom({ core, chat, session: session.uri, signal: this.#abort.signal }, this.#batch)
    this.#silence = new SilenceTimer({
      world: core.world,
      isInputNeeded: () => (chat.head.status & activityMask) === Activity.InputNeeded,
      notify: (duration) => this.#showActivity(`${agent.info.displayName} has been silent for ${duration}`),
    })
    this.#running = {
      ...context,
      turnId: chat.head.activeTurn?.id ?? '',
      signal: this.#abort.signal,
      previews: new Previews(),
      flushText: () => this.#batch.flush(),
      publishRest: () => this.#publishRest(),
      hookContext: () => this.#hooks.context,
    }
    this.#hooks = new TurnHooks(this.#running, (output) => this.#publish(output))
  }

  async run(): Promise<void> {
    this.#silence.start()
    let iterator: AsyncIterator<AgentAction> | undefined
    try {
      const consent = requireConsent(this.#running, (output) => this.#publish(output))
      if (consent) await consent
      const servers = this.#startServers()
      const captured = changesOf(this.#core)?.begin(this.#chat, this.#running.turnId)
      if (captured) this.#showUncaptured(await captured)
      if (servers) await servers
      const hooks = this.#hooks.begin()
      if (hooks) await hooks
      // The turn may have been cancelled meanwhile. Then its agent has nothing to do.
      if (this.#over) return
      iterator = this.#agent.run(agentChat(this.#running), this.#abort.signal)[Symbol.asyncIterator]()
      for (let next = await this.#next(iterator); next; next = await this.#next(iterator)) {
        if (next.done) {
          await this.#publishRest()
          await this.#hooks.end()
          return this.#end({ type: 'chat/turnComplete', ...this.#ending })
        }
        const ending = this.#completing(next.value)
        if (ending) await ending
        const refused = this.#hooks.before(next.value)
        if (refused && (await refused)) continue
        if (this.#over || this.#room.fits(next.value)) this.#publish(next.value)
        else await this.#publishSplit(next.value)
        const after = this.#hooks.after(next.value)
        if (after) await after
        if (this.#mustYield) await this.#yieldToOthers()
      }
    } catch (error) {
      await this.#publishRest().catch(() => {})
      this.#fail(error)
    }
    await closeQuietly(iterator)
  }

  stop(): void {
    this.#silence.stop()
    this.#batch.drop()
    this.#abort.abort()
    this.#stopWaiting()
  }

  /** Starts the MCP servers of the session. The turn begins without a server that takes too long. */
  #startServers(): Promise<void> | undefined {
    const { world, limits } = this.#core
    const starting = customizationsOf(this.#core)?.startServers(this.#session.uri)
    return starting && withTimeout(world, limits.serverWaitMs, starting, () => {})
  }

  /** Shows in the chat that the changes of the turn cannot be shown or undone. */
  #showUncaptured(problem: string | undefined): void {
    if (problem === undefined) return
    const content = `The changes of this turn cannot be shown or undone. ${problem}`
    this.#publish({ type: 'chat/responsePart', part: { kind: 'systemNotification', content } })
  }

  /** Called before a tool call ends. Separates what the call has changed from what others change later. */
  #completing(output: AgentAction): Promise<void> | undefined {
    const completes = output.type === 'chat/toolCallComplete' && !this.#over
    return completes ? changesOf(this.#core)?.completing(this.#chat, output.toolCallId) : undefined
  }

  get #over(): boolean {
    return this.#abort.signal.aborted
  }

  get #ending(): { turnId: string; duration: number } {
    const duration = Math.max(0, this.#core.world.now() - this.#startedAt)
    return { turnId: this.#running.turnId, duration }
  }

  /**
   * Appends an output that would make the state of the chat too long: a part of it as it is, and references to the
   * rest.
   */
  async #publishSplit(output: AgentAction): Promise<void> {
    this.#silence.outputSeen()
    // The flush counts in the batch, even if it appends nothing. So the turn also yields after many outputs whose
    // text waits outside the batch.
    this.#batch.flush()
    await this.#resting
    for (const each of await this.#room.split(output)) this.#publish(each)
  }

  /**
   * Stores the text that would make the state of the chat too long, and appends references to it. Calls run one after
   * the other.
   */
  #publishRest(): Promise<void> {
    const published = this.#resting.then(async () => {
      if (!this.#over && this.#room.hasRest)
        for (const output of await this.#room.flush()) this.#publish(output)
    })
    this.#resting = published.catch(() => {})
    return published
  }

  /** Checks an action of the agent and appends it to its chat or session. */
  #publish(output: AgentAction): void {
    if (this.#over) return
    const { turnId } = this.#running
    this.#silence.outputSeen()
    const delta = textDeltaOf(output, turnId)
    if (delta && !this.#silence.noticeShown) return this.#batch.add(delta)
    const { of, action } = parseAgentAction(output, turnId)
    if (output.type === 'chat/activityChanged') this.#activity = output.activity
    if (this.#silence.noticeShown) this.#replaceNotice()
    if (!hasRoom(this.#core, of === 'session' ? this.#session : this.#chat, action))
      throw new TurnFailed('full', 'This turn has as much output as a turn can have. Go on in a new turn.')
    if (of === 'session') this.#appendToSession(action)
    else this.#append(this.#chat, this.#withApproval(action))
  }

  /**
   * Adds options, or the confirmation by a permission, to the action of a tool call that asks for confirmation.
   * Throws if only the provider of the tool may produce the action.
   */
  #withApproval(action: ChatAction): ChatAction {
    const forbidden = providerOnly(this.#running, action)
    if (forbidden !== undefined) throw new TurnFailed('agent', `an agent may not ${forbidden}`)
    const recorded = this.#running.previews.record(action, this.#chat.head)
    return withApproval(this.#running, recorded)
  }

  /** Appends batched text and then the action, in the same step. */
  #append(channel: Channel, action: Action): void {
    this.#batch.flush()
    this.#core.log.appendChecked(channel, action)
  }

  #appendToSession(action: SessionAction): void {
    const { uri, head } = this.#session
    // A title that a client has set is kept.
    if (action.type === 'session/titleChanged' && catalogOf(this.#core).hasTitle(uri)) return
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
    if (!(error instanceof SignInRequired)) return
    const { resources, reason } = error
    notifySession(this.#core, this.#session, ...resources.map((resource) => ({ resource, reason })))
  }

  get #resumable(): boolean {
    return this.#agent.resumes && isWritable(this.#session, this.#chat.uri)
  }

  #end(action: ChatAction): void {
    // The follow-ups of this append call `stop`, so the turn is over afterwards.
    if (!this.#over) this.#append(this.#chat, action)
  }

  /** Whether the log cannot take more output now, or this turn has kept the event loop for long enough. */
  get #mustYield(): boolean {
    const { congested, diskFull } = this.#core.log
    return congested || diskFull || this.#batch.full
  }

  async #yieldToOthers(): Promise<void> {
    this.#batch.end()
    await this.#core.log.space()
    await new Promise<void>((resolve) => this.#core.world.later(0, resolve))
  }

  #replaceNotice(): void {
    this.#silence.clearNotice()
    this.#showActivity(this.#activity)
  }

  #showActivity(activity: string | undefined): void {
    this.#append(this.#chat, compact<ChatAction>({ type: 'chat/activityChanged', activity }))
  }

  /** The agent's next action; undefined as soon as the turn has ended, even if the agent ignores its abort signal. */
  async #next(iterator: AsyncIterator<AgentAction>): Promise<IteratorResult<AgentAction> | undefined> {
    const next = this.#nextOutput(iterator)
    if (!this.#room.hasRest) return next
    // While the agent pauses, the text that waits outside the state is stored and published, so that clients see it.
    const cancel = this.#core.world.later(restMs, () => void this.#publishRest().catch(() => {}))
    return next.finally(cancel)
  }

  #nextOutput(iterator: AsyncIterator<AgentAction>): Promise<IteratorResult<AgentAction> | undefined> {
    return new Promise((resolve, reject) => {
      this.#stopWaiting = () => resolve(undefined)
      if (this.#over) this.#stopWaiting()
      else iterator.next().then(resolve, reject)
    })
  }
}

/** Lets the agent run its `finally` blocks. */
async function closeQuietly(iterator: AsyncIterator<AgentAction> | undefined): Promise<void> {
  try {
    await iterator?.return?.()
  } catch {
    // The turn has ended, so the error has no place to be shown.
  }
}
