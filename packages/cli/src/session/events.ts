import type { ActiveTurn, ChatState, ErrorPart, ResponsePart, Turn } from '@atrium/protocol/chat/state'
import type { PendingMessage } from '@atrium/protocol/chat/message'
import type { ToolCallRunning, ToolCallState } from '@atrium/protocol/chat/tool'
import { compact } from '@atrium/protocol/update'
import { textOf } from './pending-requests.ts'

/** A change in a chat, as `run` and `attach` show it. Each change is reported once. */
export type SessionEvent =
  | { readonly kind: 'began'; readonly turn: ActiveTurn | Turn; readonly again: boolean }
  | {
      readonly kind: 'text' | 'reasoning'
      readonly turnId: string
      readonly part: string
      readonly text: string
    }
  /** A tool call has entered another status. */
  | { readonly kind: 'call'; readonly turnId: string; readonly call: ToolCallState }
  | { readonly kind: 'notice'; readonly turnId: string; readonly text: string }
  | { readonly kind: 'failed'; readonly turnId: string; readonly part: ErrorPart }
  | { readonly kind: 'ended'; readonly turn: Turn }
  | { readonly kind: 'pending'; readonly as: 'steering' | 'queued'; readonly message: PendingMessage }

/**
 * Derives events from successive states of a chat, and from nothing else. States may be skipped, for example after a
 * reconnect; each event is still reported once, and before all later events. Printed text cannot be taken back, so
 * text that disappears and comes again is not reported twice.
 */
export class SessionEvents {
  readonly #turns = new Map<string, Reported>()
  #pending = new Set<string>()
  #last: ChatState | undefined

  /** Marks the ended turns of a state as reported, except for the last `turns` of them. */
  skip(state: ChatState, turns: number): void {
    const known = turns === 0 ? state.turns : state.turns.slice(0, -turns)
    for (const turn of known)
      this.#turns.set(turn.id, { parts: reportedParts(turn), ended: true, state: turn.state })
  }

  /** Returns the events between the last state and this one. */
  update(state: ChatState): readonly SessionEvent[] {
    if (state === this.#last) return []
    const before = this.#last
    this.#last = state
    const news: SessionEvent[] = []
    // An ended turn never changes in place, so the same list has no new turns.
    if (state.turns !== before?.turns)
      for (const turn of state.turns) if (this.#isNews(turn)) this.#turn(turn, news)
    this.#pendingMessages(state, news)
    if (state.activeTurn && state.activeTurn !== before?.activeTurn) this.#turn(state.activeTurn, news)
    return news
  }

  /** An ended turn is new if its end was not reported, or if it was resumed and ended again. */
  #isNews({ id, state, responseParts }: Turn): boolean {
    const reported = this.#turns.get(id)
    return (
      reported?.ended !== true || reported.parts.length !== responseParts.length || reported.state !== state
    )
  }

  #turn(turn: ActiveTurn | Turn, news: SessionEvent[]): void {
    const reported = this.#turns.get(turn.id) ?? { parts: [], ended: true }
    if (reported.ended) news.push({ kind: 'began', turn, again: this.#turns.has(turn.id) })
    reported.ended = false
    this.#turns.set(turn.id, reported)
    for (const [at, part] of turn.responseParts.entries()) {
      if (reported.parts[at]?.part === part) continue
      const before = reported.parts[at]
      if (before && isBeginning(part, before.part)) continue
      this.#part({ turnId: turn.id, part, before, name: `${turn.id}/${at}` }, news)
      reported.parts[at] = { part }
    }
    if (!('state' in turn)) return
    reported.ended = true
    reported.state = turn.state
    news.push({ kind: 'ended', turn })
  }

  #part({ turnId, part, before, name }: PartChange, news: SessionEvent[]): void {
    const { kind } = part
    if (kind === 'markdown' || kind === 'reasoning') {
      const text = before?.part.kind === kind ? addedText(before.part.content, part.content) : part.content
      if (text !== '') news.push({ kind: kind === 'markdown' ? 'text' : kind, turnId, part: name, text })
    } else if (kind === 'toolCall') {
      const had = before?.part.kind === 'toolCall' ? before.part.toolCall : undefined
      const call = part.toolCall
      if (had?.status === call.status) return
      if (call.status !== 'running' && hasRun(call) && !(had && hasRun(had)))
        news.push({ kind: 'call', turnId, call: runningOf(call) })
      news.push({ kind: 'call', turnId, call })
    } else if (kind === 'systemNotification') {
      if (!before) news.push({ kind: 'notice', turnId, text: textOf(part.content) })
    } else if (kind === 'contentRef') {
      // The rest of a very long answer is not in the state. It can be read from this URI.
      if (!before) news.push({ kind: 'notice', turnId, text: `more: ${part.uri}` })
    } else if (kind === 'error') {
      if (!before) news.push({ kind: 'failed', turnId, part })
    }
  }

  #pendingMessages({ steeringMessage, queuedMessages = [] }: ChatState, news: SessionEvent[]): void {
    const now = new Set<string>()
    const add = (as: 'steering' | 'queued', message: PendingMessage) => {
      const name = `${as} ${message.id} ${message.message.text}`
      now.add(name)
      if (!this.#pending.has(name)) news.push({ kind: 'pending', as, message })
    }
    if (steeringMessage) add('steering', steeringMessage)
    for (const message of queuedMessages) add('queued', message)
    this.#pending = now
  }
}

/**
 * Whether a text part has only the beginning of the reported text. This happens after a crash of the host, because text is
 * delivered before it is durable.
 */
function isBeginning(part: ResponsePart, reported: ResponsePart): boolean {
  if (part.kind !== 'markdown' && part.kind !== 'reasoning') return false
  return reported.kind === part.kind && reported.content.startsWith(part.content)
}

/** Returns the text that follows the reported text. Text that differs from the reported text begins a new line. */
function addedText(reported: string, now: string): string {
  if (now.startsWith(reported)) return now.slice(reported.length)
  let same = 0
  while (reported[same] === now[same]) same++
  return `\n${now.slice(same)}`
}

/** Whether a call runs or has run. A call runs only after a user or a rule has confirmed it. */
function hasRun(call: ToolCallState): call is Extract<ToolCallState, { readonly confirmed: unknown }> {
  return 'confirmed' in call
}

/** Returns the call as it was while it ran, without its result. */
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

/** The reported content of a turn. */
interface Reported {
  parts: ReportedPart[]
  ended: boolean
  state?: Turn['state']
}

interface ReportedPart {
  readonly part: ResponsePart
}

interface PartChange {
  readonly turnId: string
  readonly part: ResponsePart
  /** The part as it was reported last; undefined for a new part. */
  readonly before: ReportedPart | undefined
  /** A name of the part that stays the same while the part grows. */
  readonly name: string
}

function reportedParts({ responseParts }: Turn): ReportedPart[] {
  return responseParts.map((part) => ({ part }))
}
