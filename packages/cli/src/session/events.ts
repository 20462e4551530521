import type { ActiveTurn, ChatState, ErrorPart, ResponsePart, Turn } from '@atrium/protocol/chat/state'
import type { PendingMessage } from '@atrium/protocol/chat/message'
import type { ToolCallRunning, ToolCallState } from '@atrium/protocol/chat/tool'
import { compact } from '@atrium/protocol/update'

/** Something that happened in a chat, told once. */
export type Happening =
  | { readonly kind: 'began'; readonly turn: ActiveTurn | Turn; readonly again: boolean }
  | {
      readonly kind: 'text' | 'reasoning'
      readonly turnId: string
      readonly part: string
      readonly text: string
    }
  /** A call is in another status than before. */
  | { readonly kind: 'call'; readonly turnId: string; readonly call: ToolCallState }
  | { readonly kind: 'notice'; readonly turnId: string; readonly text: string }
  | { readonly kind: 'failed'; readonly turnId: string; readonly part: ErrorPart }
  | { readonly kind: 'ended'; readonly turn: Turn }
  | { readonly kind: 'waits'; readonly as: 'steering' | 'queued'; readonly message: PendingMessage }

/**
 * What happens in a chat, by its states alone: whatever was missed, healed or handed over as a whole, each thing is told
 * once and in order. What was told cannot be taken back; text that was there and is gone is not told again.
 */
export class Happenings {
  readonly #turns = new Map<string, Told>()
  #waiting = new Set<string>()
  #last: ChatState | undefined

  /** What is there already is not news, but for so many of the last turns; one that goes on is. */
  skip(state: ChatState, turns: number): void {
    const known = turns === 0 ? state.turns : state.turns.slice(0, -turns)
    for (const turn of known)
      this.#turns.set(turn.id, { parts: toldOf(turn), ended: true, state: turn.state })
  }

  see(state: ChatState): readonly Happening[] {
    if (state === this.#last) return []
    const before = this.#last
    this.#last = state
    const news: Happening[] = []
    // Turns are never changed once they have ended, and the last that did are all that is new.
    if (state.turns !== before?.turns)
      for (const turn of state.turns) if (this.#isNews(turn)) this.#turn(turn, news)
    this.#waits(state, news)
    if (state.activeTurn && state.activeTurn !== before?.activeTurn) this.#turn(state.activeTurn, news)
    return news
  }

  /** One that was told to its end may have gone on meanwhile, and ended again. */
  #isNews({ id, state, responseParts }: Turn): boolean {
    const told = this.#turns.get(id)
    return told?.ended !== true || told.parts.length !== responseParts.length || told.state !== state
  }

  #turn(turn: ActiveTurn | Turn, news: Happening[]): void {
    const told = this.#turns.get(turn.id) ?? { parts: [], ended: true }
    if (told.ended) news.push({ kind: 'began', turn, again: this.#turns.has(turn.id) })
    told.ended = false
    this.#turns.set(turn.id, told)
    for (const [at, part] of turn.responseParts.entries()) {
      if (told.parts[at]?.part === part) continue
      this.#part(turn.id, part, told.parts[at], news, `${turn.id}/${at}`)
      told.parts[at] = { part }
    }
    if (!('state' in turn)) return
    told.ended = true
    told.state = turn.state
    news.push({ kind: 'ended', turn })
  }

  #part(
    turnId: string,
    part: ResponsePart,
    before: ToldPart | undefined,
    news: Happening[],
    name: string,
  ): void {
    const { kind } = part
    if (kind === 'markdown' || kind === 'reasoning') {
      const had = before?.part.kind === kind ? before.part.content.length : 0
      const text = part.content.slice(had)
      if (text !== '') news.push({ kind: kind === 'markdown' ? 'text' : kind, turnId, part: name, text })
    } else if (kind === 'toolCall') {
      const had = before?.part.kind === 'toolCall' ? before.part.toolCall : undefined
      const call = part.toolCall
      if (had?.status === call.status) return
      if (call.status !== 'running' && hasRun(call) && !(had && hasRun(had)))
        news.push({ kind: 'call', turnId, call: runningOf(call) })
      news.push({ kind: 'call', turnId, call })
    } else if (kind === 'systemNotification') {
      const { content } = part
      if (!before)
        news.push({ kind: 'notice', turnId, text: typeof content === 'string' ? content : content.markdown })
    } else if (kind === 'error') {
      if (!before) news.push({ kind: 'failed', turnId, part })
    }
  }

  #waits({ steeringMessage, queuedMessages = [] }: ChatState, news: Happening[]): void {
    const now = new Set<string>()
    const look = (as: 'steering' | 'queued', message: PendingMessage) => {
      const name = `${as} ${message.id} ${message.message.text}`
      now.add(name)
      if (!this.#waiting.has(name)) news.push({ kind: 'waits', as, message })
    }
    if (steeringMessage) look('steering', steeringMessage)
    for (const message of queuedMessages) look('queued', message)
    this.#waiting = now
  }
}

/** Only a call that was confirmed, by a user or by a rule, has run or runs. */
function hasRun(call: ToolCallState): call is Extract<ToolCallState, { readonly confirmed: unknown }> {
  return 'confirmed' in call
}

/** The same call while it ran, without its result. */
function runningOf(call: Extract<ToolCallState, { readonly confirmed: unknown }>): ToolCallRunning {
  const { toolCallId, toolName, displayName, intention, contributor, _meta } = call
  const { invocationMessage, toolInput, confirmed, selectedOption } = call
  return compact<ToolCallRunning>({
    toolCallId,
    toolName,
    displayName,
    intention,
    contributor,
    _meta,
    status: 'running',
    invocationMessage,
    toolInput,
    confirmed,
    selectedOption,
  })
}

interface Told {
  parts: ToldPart[]
  ended: boolean
  state?: Turn['state']
}

interface ToldPart {
  readonly part: ResponsePart
}

function toldOf({ responseParts }: Turn): ToldPart[] {
  return responseParts.map((part) => ({ part }))
}
