import type { Client } from '@atrium/client/client'
import { provideTools } from '@atrium/client'
import type { ProvidedTool } from '@atrium/client'
import { newId } from '@atrium/client/shared/globals'
import type { Subscription } from '@atrium/client/sync/handle'
import type { Outcome } from '@atrium/client/sync/pending-actions'
import type { Uri } from '@atrium/protocol/channel'
import type { ChatState, ResponsePart, Turn } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { kinds } from '@atrium/protocol/channels'
import { fileUri } from '@atrium/protocol/file-uri'
import { defaultChatUri, rootUri, sessionUri } from '@atrium/protocol/uri'
import { comparable } from '../chaos/judge/compare.ts'
import { Failure, must, withTimeout } from './failure.ts'
import type { TestHost } from './test-host.ts'

interface Parts {
  readonly acting: Client
  readonly session: Subscription<'session'>
  readonly chat: Subscription<'chat'>
  /** The chat as the client that only watches sees it. */
  readonly watcher: Subscription<'chat'>
}

/** A session with the agent: one client acts, another only watches. */
export class ChatDriver {
  readonly #testHost: TestHost
  readonly #acting: Client
  readonly #session: Subscription<'session'>
  readonly #chat: Subscription<'chat'>
  readonly #watcher: Subscription<'chat'>

  private constructor(testHost: TestHost, { acting, session, chat, watcher }: Parts) {
    this.#testHost = testHost
    this.#acting = acting
    this.#session = session
    this.#chat = chat
    this.#watcher = watcher
  }

  static async start(testHost: TestHost): Promise<ChatDriver> {
    const [acting, watching] = [testHost.client(), testHost.client()]
    const channel = sessionUri(newId())
    const { provider } = testHost.agent
    const created = acting.ask('createSession', {
      channel,
      provider,
      workingDirectories: [fileUri(testHost.work)],
    })
    await withTimeout(created, testHost.timeoutMs, 'a session')
    const uri = defaultChatUri(channel)
    const session = acting.subscribe('session', channel)
    const chat = acting.subscribe('chat', uri)
    const watcher = watching.subscribe('chat', uri)
    await withTimeout(
      Promise.all([session.ready(), chat.ready(), watcher.ready()]),
      testHost.timeoutMs,
      'the chat',
    )
    const driver = new ChatDriver(testHost, { acting, session, chat, watcher })
    if (testHost.agent.actsWithoutAsking) await driver.consent()
    return driver
  }

  /** Lets the agent act without asking in the folder of the session. */
  consent(): Promise<void> {
    const { agent, work } = this.#testHost
    return this.#setPermissions([{ id: newId(), tool: `agent:${agent.provider}`, folder: fileUri(work) }])
  }

  forgetConsent(): Promise<void> {
    return this.#setPermissions([])
  }

  async #setPermissions(permissions: readonly object[]): Promise<void> {
    const root = this.#acting.subscribe('root', rootUri)
    await withTimeout(root.ready(), this.#testHost.timeoutMs, 'the root')
    const config = { 'atrium.permissions': permissions }
    await this.#accepted(root.dispatch({ type: 'root/configChanged', config }), 'the permissions')
    root.release()
  }

  /** Approves the next call, after a check that it has not begun. An agent that acts without asking has no such call. */
  async approveNext(turnId: string, check: () => void = () => {}): Promise<void> {
    if (this.#testHost.agent.actsWithoutAsking === true) return
    const call = await this.pendingCall(turnId)
    check()
    await this.decide(turnId, call, true)
  }

  /** Starts a turn. Returns its id. */
  async startTurn(text: string): Promise<string> {
    const turnId = newId()
    const startedAt = new Date().toISOString()
    const message = { text, origin: { kind: 'user' } } as const
    await this.#accepted(
      this.#chat.dispatch({ type: 'chat/turnStarted', turnId, startedAt, message }),
      'the turn',
    )
    return turnId
  }

  /** Waits for the next call that needs an approval. Throws if the turn ends first. */
  async pendingCall(turnId: string): Promise<ToolCallState> {
    const state = await this.until(
      'an approval request',
      (each) => callToApprove(each) !== undefined || hasEnded(each, turnId),
    )
    const call = callToApprove(state)
    if (call) return call
    throw new Failure(`it did not ask for approval; ${endOf(state, turnId)}`)
  }

  async decide(turnId: string, { toolCallId }: ToolCallState, approved: boolean): Promise<void> {
    const call = { type: 'chat/toolCallConfirmed', turnId, toolCallId } as const
    const action = approved
      ? ({ ...call, approved, confirmed: 'user-action' } as const)
      : ({ ...call, approved, reason: 'denied' } as const)
    await this.#accepted(this.#chat.dispatch(action), 'the answer')
  }

  async cancel(turnId: string): Promise<void> {
    await this.#accepted(
      this.#chat.dispatch({ type: 'chat/turnCancelled', turnId, duration: 0 }),
      'the cancel',
    )
  }

  /** Sends a message into the active turn. */
  async steer(text: string): Promise<void> {
    const message = { text, origin: { kind: 'user' } } as const
    const steering = { type: 'chat/pendingMessageSet', kind: 'steering', id: newId(), message } as const
    await this.#accepted(this.#chat.dispatch(steering), 'the message')
  }

  async resume(turnId: string): Promise<void> {
    await this.#accepted(this.#chat.dispatch({ type: 'chat/turnResume', turnId }), 'the resume')
  }

  /** Waits for the end of a turn, and approves every call until then. */
  async approveUntilEnd(turnId: string): Promise<Turn> {
    for (;;) {
      const state = await this.until(
        'an approval request, or the end of the turn',
        (each) => hasEnded(each, turnId) || Boolean(callToApprove(each)),
      )
      const call = callToApprove(state)
      if (!call) return this.#end(turnId)
      await this.decide(turnId, call, true)
    }
  }

  /** Makes the acting client provide a tool to the session. */
  async provide(tool: ProvidedTool): Promise<void> {
    await withTimeout(
      provideTools(this.#acting, this.#session.uri, [tool]).ready,
      this.#testHost.timeoutMs,
      'a client with a tool',
    )
  }

  /** Enables or disables a customization of the session, by its name. */
  async toggle(name: string, enabled: boolean): Promise<void> {
    const found = this.#session.confirmed?.customizations?.find((each) => each.name === name)
    must(found !== undefined, `the session has no ${name}`)
    const enablement = [{ kind: 'session', enabled } as const]
    const toggled = { type: 'session/customizationToggled', id: found.id, enablement } as const
    await this.#accepted(this.#session.dispatch(toggled), 'the switch')
  }

  /**
   * Waits for the end of a turn. Throws if another call needs an approval. An agent that acts without asking may ask about
   * some calls all the same, or too late. These are approved.
   */
  turnEnd(turnId: string): Promise<Turn> {
    return this.#testHost.agent.actsWithoutAsking === true ? this.approveUntilEnd(turnId) : this.#end(turnId)
  }

  async #end(turnId: string): Promise<Turn> {
    const state = await this.until(
      'the end of the turn',
      (each) => hasEnded(each, turnId) || Boolean(callToApprove(each)),
    )
    const again = callToApprove(state)
    must(!again, `it asked for another approval: ${again ? titleOf(again) : ''}`)
    const turn = state.turns.find(({ id }) => id === turnId)
    must(turn !== undefined, 'the turn is gone')
    return turn
  }

  /** Waits until the agent has said this text in the active turn. */
  async textAppears(turnId: string, text: string): Promise<void> {
    const state = await this.until(
      `"${text}"`,
      (each) => markdownIn(each.activeTurn).includes(text) || hasEnded(each, turnId),
    )
    must(!hasEnded(state, turnId), `the turn ended too early; ${endOf(state, turnId)}`)
  }

  until(what: string, condition: (state: ChatState) => boolean): Promise<ChatState> {
    // Only confirmed state counts: an optimistic action has not happened yet.
    const confirmed = this.#chat.until(
      () => this.#chat.confirmed !== undefined && condition(this.#chat.confirmed),
    )
    return withTimeout(
      confirmed.then(() => this.#chat.confirmed as ChatState),
      this.#testHost.timeoutMs,
      what,
    )
  }

  /**
   * Returns the output of a turn's tools: the text in their results, and in the terminals that these results name.
   */
  async output({ responseParts }: Turn): Promise<string> {
    const results = callsIn(responseParts).flatMap((call) =>
      call.status === 'completed' ? (call.content ?? []) : [],
    )
    const texts = results.map(async (each) => {
      if (each.type === 'text') return each.text
      return each.type === 'terminal' ? this.#printed(each.resource) : ''
    })
    return (await Promise.all(texts)).join('\n')
  }

  /** Checks that both clients and a new one have the same state, and that no call is left open. */
  async checkAtRest(): Promise<void> {
    const newcomer = this.#testHost.client().subscribe('chat', this.#chat.uri)
    for (const [who, other] of [
      ['the watching client', this.#watcher] as const,
      ['a new client', newcomer] as const,
    ]) {
      const same = other.until(() => comparableState(other) === comparableState(this.#chat))
      await withTimeout(same, this.#testHost.timeoutMs, `${who} with the same state`)
    }
    for (const call of callsIn(
      this.#chat.confirmed?.turns.flatMap(({ responseParts }) => responseParts) ?? [],
    ))
      must(closed.has(call.status), `a call is still ${call.status}: ${titleOf(call)}`)
  }

  async #printed(terminal: Uri): Promise<string> {
    const handle = this.#testHost.client().subscribe('terminal', terminal)
    const { content } = await withTimeout(handle.ready(), this.#testHost.timeoutMs, 'a terminal to look at')
    return content.map((part) => (part.type === 'command' ? part.output : part.value)).join('')
  }

  async #accepted(dispatched: Promise<Outcome>, what: string): Promise<void> {
    const outcome = await withTimeout(dispatched, this.#testHost.timeoutMs, `an answer to ${what}`)
    must(
      outcome.outcome === 'accepted',
      `${what} was ${outcome.outcome}: ${'reason' in outcome ? outcome.reason : ''}`,
    )
  }
}

function comparableState({ confirmed }: Subscription<'chat'>): string {
  return comparable(kinds.chat, confirmed)
}

const closed: ReadonlySet<string> = new Set(['completed', 'cancelled'])

export function callsIn(parts: readonly ResponsePart[]): readonly ToolCallState[] {
  return parts.flatMap((part) => (part.kind === 'toolCall' ? [part.toolCall] : []))
}

/** Returns the text of a turn, without thoughts and tools. */
export function markdownIn(turn: { readonly responseParts: readonly ResponsePart[] } | undefined): string {
  return (turn?.responseParts ?? [])
    .flatMap((part) => (part.kind === 'markdown' ? [part.content] : []))
    .join('')
}

function callToApprove({ activeTurn }: ChatState): ToolCallState | undefined {
  return callsIn(activeTurn?.responseParts ?? []).find(({ status }) => status === 'pending-confirmation')
}

function hasEnded({ turns }: ChatState, turnId: string): boolean {
  return turns.some(({ id }) => id === turnId)
}

function endOf({ turns }: ChatState, turnId: string): string {
  const turn = turns.find(({ id }) => id === turnId)
  const error = turn?.responseParts.findLast(({ kind }) => kind === 'error')
  if (error?.kind === 'error') return `the turn ended with ${error.error.errorType}: ${error.error.message}`
  return `the turn was ${turn?.state ?? 'gone'} after "${markdownIn(turn).slice(-80)}"`
}

function titleOf(call: ToolCallState): string {
  const words = 'invocationMessage' in call ? call.invocationMessage : undefined
  return (typeof words === 'object' ? words.markdown : words) ?? call.displayName
}
