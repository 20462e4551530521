import type { Chat } from '@atrium/host/ports/agent'
import { TurnFailed } from '@atrium/host/ports/agent'
import type { ToolCallState, ToolResultContent } from '@atrium/protocol/chat/tool'
import {
  askedKey,
  askedOf,
  isApproved,
  isDecided,
  learn,
  named,
  newCall,
  outputText,
  textIn,
} from './tool-call.ts'
import type { About, Call, Shown } from './tool-call.ts'
import { callIn, callsOf } from '@atrium/protocol/chat/calls'
import { contentOf, editsOf } from './content.ts'
import type { TerminalOf } from './content.ts'
import { changesIn, isSame, shownKey, shownOf } from './previewed.ts'
import type { Permitted, Question } from './previewed.ts'
import type { Voice } from './output-stream.ts'
import type { CallContent, ToolCall } from './process/schema.ts'

/**
 * The tool calls of a turn. Whatever an agent says of one is a change to what is known of it, the first word as well as the last:
 * some never announce a call, some ask about one that runs, some never say that it ended.
 */
export class Calls {
  readonly #chat: Chat
  readonly #voice: Voice
  readonly #cwd: string
  readonly #newId: () => string
  readonly #terminalOf: TerminalOf
  readonly #calls = new Map<string, Call>()
  /** What was asked before, by an agent that is gone: a call that is the same is that call, as it was decided. */
  readonly #left: ToolCallState[]
  #asked: number

  constructor(chat: Chat, voice: Voice, place: { cwd: string; newId: () => string; terminalOf: TerminalOf }) {
    this.#chat = chat
    this.#voice = voice
    this.#cwd = place.cwd
    this.#newId = place.newId
    this.#terminalOf = place.terminalOf
    const known = callsOf(chat.state.activeTurn?.responseParts)
    this.#left = known.filter((call) => isApproved(call) || call.status === 'pending-confirmation')
    this.#asked = Math.max(0, ...known.map(askedOf))
  }

  /** What is known of a call is brought up to date, and said as far as it can be. */
  async take(said: ToolCall, isNew = false): Promise<Call> {
    const call = this.#learn(said, isNew)
    if (call.phase === 'over') return call
    const status = said.status ?? ''
    if (call.phase === 'begun') this.#streamInput(call)
    if (status === 'in_progress') this.#start(call)
    if (status === 'completed' || status === 'failed') await this.finish(call, status === 'completed')
    else if (call.phase === 'running' && (said.content || said._meta)) await this.#show(call)
    return call
  }

  /** Puts a call to people, and waits for as long as it takes. Gives the call as they have decided it. */
  async ask(call: Call, question: Question): Promise<ToolCallState | undefined> {
    const adopted = this.#adopt(call)
    if (adopted && isApproved(adopted)) return adopted
    if (adopted) return this.#decided(call, askedOf(adopted))
    if (call.phase === 'unsaid') this.#begin(call)
    const shown = shownOf(call)
    const changes = changesIn(question.edits ?? shown.content)
    const edits = question.edits ?? (await editsOf(shown.content, this.#chat, this.#cwd))
    const number = ++this.#asked
    call.phase = 'asking'
    call.shown = shown
    this.#voice.say({
      type: 'chat/toolCallReady',
      toolCallId: call.id,
      invocationMessage: shown.title,
      ...(shown.input !== undefined && { toolInput: shown.input }),
      ...(question.options && { options: question.options }),
      ...(edits.length > 0 && { edits: { items: edits } }),
      ...(question.reason && { confirmationTitle: question.reason }),
      // What is said now may be told later: the answer to this question is the one after it.
      _meta: { [askedKey]: number, ...(changes !== undefined && { [shownKey]: changes }) },
    })
    return this.#decided(call, number)
  }

  async #decided(call: Call, number: number): Promise<ToolCallState | undefined> {
    const decided = await this.#chat.when((state) => isDecided(callIn(state, call.id), number))
    const found = callIn(decided, call.id)
    call.phase = found?.status === 'running' ? 'running' : 'over'
    return found
  }

  /**
   * The call that something is done for: one that somebody has agreed to when it showed that, else one that people now agree to: the
   * agent's, where it has one that fits, else one of the host's own. What an agent was allowed by itself counts for what it does by
   * itself; and what is allowed for a tool, for what the host's own tool of that name does.
   */
  async permitted(
    fits: (shown: Shown) => boolean,
    about: About & Pick<Call, 'input'>,
    question: Question,
  ): Promise<Permitted> {
    const agreed = this.#newest(
      (call) => call.shown !== undefined && fits(call.shown) && this.#reason(call) === 'user-action',
    )
    if (agreed) return { call: agreed, own: false, shown: agreed.shown }
    const isOpen = ({ phase }: Call) => phase === 'begun' || phase === 'running'
    const open = this.#newest((call) => fits(call) && isOpen(call) && this.#reason(call) === 'not-needed')
    for (const call of open ? [open, undefined] : [undefined]) {
      const mine = call ?? this.#own(about)
      const decided = await this.ask(mine, question)
      if (!decided || !isApproved(decided)) break
      if (mine.toolName === about.toolName || this.#reason(mine) === 'user-action')
        return { call: mine, own: !call }
    }
    throw new TurnFailed('permission', 'nobody has agreed to this')
  }

  /** A call of the host's own, for what an agent does without having asked. */
  #own(about: About & Pick<Call, 'input'>): Call {
    const call = this.#newCall({ ...about })
    this.#begin(call)
    return call
  }

  #newest(fits: (call: Call) => boolean): Call | undefined {
    return [...this.#calls.values()].findLast(fits)
  }

  /** Why a call runs. */
  #reason(call: Call): string {
    const state = call.phase === 'running' ? callIn(this.#chat.state, call.id) : undefined
    return state?.status === 'running' && isApproved(state) ? state.confirmed : 'not-needed'
  }

  async finish(call: Call, success: boolean, problem?: string): Promise<void> {
    if (call.phase === 'over') return
    this.#start(call)
    call.phase = 'over'
    // What cannot be shown is no reason to leave it open.
    const content = await this.#contentOf(call).catch(() => [])
    const words = problem ?? (success ? undefined : (textIn(content) ?? 'it failed'))
    this.#voice.say({
      type: 'chat/toolCallComplete',
      toolCallId: call.id,
      result: {
        success,
        pastTenseMessage: call.title,
        ...(content.length > 0 && { content }),
        ...(words !== undefined && { error: { message: words.slice(0, longestProblem) } }),
      },
    })
  }

  /** Whatever is open when the turn ends is closed: no agent will say more of it. What nobody has answered goes with the turn. */
  async closeAll(problem: string): Promise<void> {
    for (const call of this.#calls.values())
      if (call.phase !== 'asking') await this.finish(call, false, problem)
    for (const { toolCallId } of this.#left.filter(isApproved)) {
      const result = { success: false, pastTenseMessage: notDone, error: { message: notDone } }
      this.#voice.say({ type: 'chat/toolCallComplete', toolCallId, result })
    }
  }

  async show(call: Call, content: readonly CallContent[]): Promise<void> {
    call.content = content
    if (call.phase === 'running') await this.#show(call)
  }

  /** One that begins anew under a name that was used, is another. */
  #learn(said: ToolCall, isNew: boolean): Call {
    const key = String(said.toolCallId ?? '')
    const before = this.#calls.get(key)
    const known = isNew && before?.phase === 'over' ? undefined : before
    const call = known ?? this.#newCall(named(said), key)
    learn(call, said)
    if (!known && this.#left.length === 0) this.#begin(call)
    return call
  }

  #newCall(about: About & Partial<Call>, key?: string): Call {
    const call = newCall(about, this.#newId())
    this.#calls.set(key ?? call.id, call)
    return call
  }

  #begin(call: Call): void {
    call.phase = 'begun'
    const { id: toolCallId, toolName, displayName, title: intention } = call
    this.#voice.say({ type: 'chat/toolCallStart', toolCallId, toolName, displayName, intention })
  }

  /** A call that was asked for before its agent was ended, and is made again, is that call. */
  #adopt(call: Call): ToolCallState | undefined {
    if (call.phase !== 'unsaid') return undefined
    const at = this.#left.findIndex((each) => isSame(each, call))
    const [left] = at < 0 ? [] : this.#left.splice(at, 1)
    const found = left && callIn(this.#chat.state, left.toolCallId)
    const phase = found && isApproved(found) ? 'running' : 'asking'
    if (found) Object.assign(call, { id: found.toolCallId, phase, shown: shownOf(call) })
    return found
  }

  /** From here on it runs, if it did not. Nobody was asked; and who is asked has not answered yet. */
  #start(call: Call): void {
    this.#adopt(call)
    if (call.phase === 'running' || call.phase === 'asking' || call.phase === 'over') return
    if (call.phase === 'unsaid') this.#begin(call)
    call.phase = 'running'
    this.#voice.say({
      type: 'chat/toolCallReady',
      toolCallId: call.id,
      invocationMessage: call.title,
      ...(call.input !== undefined && { toolInput: call.input }),
      confirmed: 'not-needed',
    })
  }

  /** Input that grows is shown as it grows; one that was another before is shown when it is whole. */
  #streamInput(call: Call): void {
    const { input = '' } = call
    if (input.length <= call.sent.length || !input.startsWith(call.sent)) return
    const content = input.slice(call.sent.length)
    call.sent = input
    this.#voice.say({ type: 'chat/toolCallDelta', toolCallId: call.id, content })
  }

  async #show(call: Call): Promise<void> {
    const content = await this.#contentOf(call)
    if (call.phase === 'running')
      this.#voice.say({ type: 'chat/toolCallContentChanged', toolCallId: call.id, content: [...content] })
  }

  async #contentOf(call: Call): Promise<ToolResultContent[]> {
    const shown = await contentOf(call.content, this.#chat, this.#cwd, this.#terminalOf)
    if (call.output !== '') return [...shown, { type: 'text', text: call.output }]
    if (shown.length > 0 || call.rawOutput === undefined || call.rawOutput === null) return [...shown]
    const text = outputText(call.rawOutput)
    return text === '' ? [] : [{ type: 'text', text }]
  }
}

const longestProblem = 2000
const notDone = 'It was allowed, and the agent ended its turn without doing it'
