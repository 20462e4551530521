import { newId } from '@atrium/client/shared/globals'
import type { Subscription } from '@atrium/client/sync/handle'
import type { Outcome } from '@atrium/client/sync/pending-actions'
import type { Uri } from '@atrium/protocol/channel'
import type { ChatState, ResponsePart, Turn } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { kinds } from '@atrium/protocol/channels'
import { fileUri } from '@atrium/protocol/file-uri'
import { defaultChatUri, sessionUri } from '@atrium/protocol/uri'
import { comparable } from '../chaos/judge/truth.ts'
import { Failure, must, soon } from './failure.ts'
import { Sights } from './sights.ts'
import type { Stage } from './stage.ts'

/** A session with the agent: one client talks, another looks on. */
export class Talk {
  readonly sights: Sights
  readonly #stage: Stage
  readonly #session: Subscription<'session'>
  readonly #chat: Subscription<'chat'>
  readonly #onlooker: Subscription<'chat'>

  private constructor(
    stage: Stage,
    session: Subscription<'session'>,
    chat: Subscription<'chat'>,
    onlooker: Subscription<'chat'>,
    sights: Sights,
  ) {
    this.#stage = stage
    this.#session = session
    this.#chat = chat
    this.#onlooker = onlooker
    this.sights = sights
  }

  static async begin(stage: Stage): Promise<Talk> {
    const [talks, looks] = [stage.client(), stage.client()]
    const channel = sessionUri(newId())
    const { provider } = stage.player
    const made = talks.ask('createSession', { channel, provider, workingDirectories: [fileUri(stage.work)] })
    await soon(made, stage.patience, 'a session')
    const uri = defaultChatUri(channel)
    const session = talks.subscribe('session', channel)
    const chat = talks.subscribe('chat', uri)
    const onlooker = looks.subscribe('chat', uri)
    await soon(Promise.all([session.ready(), chat.ready(), onlooker.ready()]), stage.patience, 'the chat')
    return new Talk(stage, session, chat, onlooker, new Sights(looks))
  }

  /** Begins a turn; gives its name. */
  async ask(text: string): Promise<string> {
    const turnId = newId()
    const startedAt = new Date().toISOString()
    const message = { text, origin: { kind: 'user' } } as const
    await this.#accepted(
      this.#chat.dispatch({ type: 'chat/turnStarted', turnId, startedAt, message }),
      'the turn',
    )
    return turnId
  }

  /** The next call that waits for somebody. A turn that ends before it asks has failed. */
  async question(turnId: string): Promise<ToolCallState> {
    const state = await this.until('a question', (each) => asked(each) !== undefined || over(each, turnId))
    const call = asked(state)
    if (call) return call
    throw new Failure(`it did not ask; ${endOf(state, turnId)}`)
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

  async resume(turnId: string): Promise<void> {
    await this.#accepted(this.#chat.dispatch({ type: 'chat/turnResume', turnId }), 'the resume')
  }

  /** The same; whatever it asks meanwhile is allowed. */
  async allowing(turnId: string): Promise<Turn> {
    for (;;) {
      const state = await this.until(
        'a question, or the end',
        (each) => over(each, turnId) || Boolean(asked(each)),
      )
      const call = asked(state)
      if (!call) return this.end(turnId)
      await this.decide(turnId, call, true)
    }
  }

  /** Switches a customization of the session, by its name. */
  async toggle(name: string, enabled: boolean): Promise<void> {
    const found = this.#session.confirmed?.customizations?.find((each) => each.name === name)
    must(found !== undefined, `the session has no ${name}`)
    const enablement = [{ kind: 'session', enabled } as const]
    const toggled = { type: 'session/customizationToggled', id: found.id, enablement } as const
    await this.#accepted(this.#session.dispatch(toggled), 'the switch')
  }

  /** The turn when it is over. Nobody is there to answer any more: a question fails it. */
  async end(turnId: string): Promise<Turn> {
    const state = await this.until(
      'the end of the turn',
      (each) => over(each, turnId) || Boolean(asked(each)),
    )
    const again = asked(state)
    must(!again, `it asked once more: ${again ? titleOf(again) : ''}`)
    const turn = state.turns.find(({ id }) => id === turnId)
    must(turn !== undefined, 'the turn has gone')
    return turn
  }

  /** What the agent has said so far in the turn that goes on. */
  async hears(turnId: string, text: string): Promise<void> {
    const state = await this.until(
      `"${text}"`,
      (each) => wordsIn(each.activeTurn).includes(text) || over(each, turnId),
    )
    must(!over(state, turnId), `it was over too early; ${endOf(state, turnId)}`)
  }

  until(what: string, wished: (state: ChatState) => boolean): Promise<ChatState> {
    // The host's own state: what is only wished here has not happened.
    const confirmed = this.#chat.until(
      () => this.#chat.confirmed !== undefined && wished(this.#chat.confirmed),
    )
    return soon(
      confirmed.then(() => this.#chat.confirmed as ChatState),
      this.#stage.patience,
      what,
    )
  }

  /** What the tools of a turn are seen to have printed, in their results and in the terminals that these name. */
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

  /** Both clients, and one that comes only now, see the same; and nothing is left open. */
  async rest(): Promise<void> {
    const newcomer = this.#stage.client().subscribe('chat', this.#chat.uri)
    for (const [who, other] of [
      ['an onlooker', this.#onlooker] as const,
      ['a newcomer', newcomer] as const,
    ]) {
      const same = other.until(() => sees(other) === sees(this.#chat))
      await soon(same, this.#stage.patience, `${who} who sees the same`)
    }
    for (const call of callsIn(
      this.#chat.confirmed?.turns.flatMap(({ responseParts }) => responseParts) ?? [],
    ))
      must(closed.has(call.status), `a call is still ${call.status}: ${titleOf(call)}`)
  }

  async #printed(terminal: Uri): Promise<string> {
    const handle = this.#stage.client().subscribe('terminal', terminal)
    const { content } = await soon(handle.ready(), this.#stage.patience, 'a terminal to look at')
    return content.map((part) => (part.type === 'command' ? part.output : part.value)).join('')
  }

  async #accepted(wish: Promise<Outcome>, what: string): Promise<void> {
    const outcome = await soon(wish, this.#stage.patience, `an answer to ${what}`)
    must(
      outcome.outcome === 'accepted',
      `${what} was ${outcome.outcome}: ${'reason' in outcome ? outcome.reason : ''}`,
    )
  }
}

function sees({ confirmed }: Subscription<'chat'>): string {
  return comparable(kinds.chat, confirmed)
}

const closed: ReadonlySet<string> = new Set(['completed', 'cancelled'])

export function callsIn(parts: readonly ResponsePart[]): readonly ToolCallState[] {
  return parts.flatMap((part) => (part.kind === 'toolCall' ? [part.toolCall] : []))
}

/** What was said, without thoughts and tools. */
export function wordsIn(turn: { readonly responseParts: readonly ResponsePart[] } | undefined): string {
  return (turn?.responseParts ?? [])
    .flatMap((part) => (part.kind === 'markdown' ? [part.content] : []))
    .join('')
}

function asked({ activeTurn }: ChatState): ToolCallState | undefined {
  return callsIn(activeTurn?.responseParts ?? []).find(({ status }) => status === 'pending-confirmation')
}

function over({ turns }: ChatState, turnId: string): boolean {
  return turns.some(({ id }) => id === turnId)
}

function endOf({ turns }: ChatState, turnId: string): string {
  const turn = turns.find(({ id }) => id === turnId)
  const error = turn?.responseParts.findLast(({ kind }) => kind === 'error')
  if (error?.kind === 'error') return `the turn ended with ${error.error.errorType}: ${error.error.message}`
  return `the turn was ${turn?.state ?? 'gone'} after "${wordsIn(turn).slice(-80)}"`
}

function titleOf(call: ToolCallState): string {
  const words = 'invocationMessage' in call ? call.invocationMessage : undefined
  return (typeof words === 'object' ? words.markdown : words) ?? call.displayName
}
