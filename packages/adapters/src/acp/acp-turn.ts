import { AhpError } from '@atrium/protocol/errors'
import type { Chat } from '@atrium/host/ports/agent'
import type { UsageInfo } from '@atrium/protocol/common/content'
import { compact } from '@atrium/protocol/update'
import { Calls } from './tool-calls.ts'
import { writeFile } from './files.ts'
import { elicit } from './elicitation.ts'
import type { Asked, Party } from './process/connection.ts'
import { optionsOf, outcomeOf } from './permission.ts'
import { Plans } from './plan.ts'
import { Speech } from './message-chunks.ts'
import { Terminals } from './terminals.ts'
import type { Voice } from './output-stream.ts'
import type { CallContent, PermissionRequest, Prompted, ToolCall, Update } from './process/schema.ts'

/** One prompt of an agent: what it says meanwhile becomes the words of a turn, and what it asks is put to people. */
export class AcpTurn implements Party {
  readonly #chat: Chat
  readonly #voice: Voice
  readonly #calls: Calls
  readonly #speech: Speech
  readonly #plans: Plans
  readonly #terminals: Terminals
  readonly #newId: () => string
  /** What takes time holds up whatever comes after it: words keep their order. */
  #busy: Promise<void> | undefined
  #queued = 0
  #usage: UsageInfo = {}
  #denied = false
  #silent = true

  constructor(chat: Chat, voice: Voice, cwd: string) {
    this.#chat = chat
    this.#voice = voice
    let last = lastNumber(chat)
    this.#newId = () => `${chat.turnId}-${++last}`
    this.#terminals = new Terminals(chat, cwd)
    const terminalOf = (terminalId: string) => this.#terminals.shown(terminalId)
    this.#calls = new Calls(chat, voice, { cwd, newId: this.#newId, terminalOf })
    this.#speech = new Speech(chat, voice, this.#newId)
    this.#plans = new Plans(voice, this.#newId)
  }

  update(update: Update): void {
    const task = () => heard.get(update.sessionUpdate ?? '')?.(this, update)
    if (this.#busy) return this.#queue(task)
    const done = task()
    if (done) this.#queue(() => done)
  }

  async ask(method: string, asked: Asked): Promise<object> {
    // What was said before the question comes before it.
    while (this.#busy) await this.#busy
    const answer = asks.get(method)
    if (!answer) throw AhpError.methodNotFound(method)
    this.#silent = false
    return answer(this, asked)
  }

  /** The agent has ended its turn: what it left open is closed. */
  async end({ stopReason = '', usage }: Prompted): Promise<void> {
    while (this.#busy) await this.#busy
    await this.#calls.closeAll(
      stopReason === 'cancelled' ? 'it was stopped' : 'the agent ended its turn without saying how this went',
    )
    this.#plans.close()
    if (usage)
      this.#used({
        inputTokens: usage.inputTokens,
        outputTokens: usage.outputTokens,
        cacheReadTokens: usage.cachedReadTokens ?? undefined,
      })
    const notice = endings.get(stopReason)
    if (notice !== undefined && !(stopReason === 'cancelled' && this.#denied)) this.note(notice)
  }

  /** It has broken off: what it left open is closed all the same. */
  async breakOff(problem: string): Promise<void> {
    while (this.#busy) await this.#busy
    await this.#calls.closeAll(problem)
    this.#plans.close()
  }

  /** Whether it has said nothing and asked nothing. */
  get silent(): boolean {
    return this.#silent
  }

  note(content: string): void {
    this.#speech.pause()
    this.#newId()
    this.#voice.say({ type: 'chat/responsePart', part: { kind: 'systemNotification', content } })
  }

  #queue(task: () => void | Promise<void>): void {
    const before = this.#busy
    if (++this.#queued === mostQueued) this.#voice.flow.pause()
    // What cannot be shown is no reason to lose what comes after it.
    const mine: Promise<void> = Promise.resolve(before)
      .then(task)
      .catch(() => {})
      .then(() => {
        if (this.#queued-- === mostQueued) this.#voice.flow.resume()
        if (this.#busy === mine) this.#busy = undefined
      })
    this.#busy = mine
  }

  write(kind: 'markdown' | 'reasoning', { content, messageId }: Update): void | Promise<void> {
    const block = content as unknown as Parameters<Speech['take']>[1] | undefined
    if (typeof block !== 'object' || block === null) return undefined
    this.#silent = false
    return this.#speech.take(kind, block, messageId ?? undefined)
  }

  async call(update: Update): Promise<void> {
    this.#silent = false
    this.#speech.pause()
    const isOver = update.status === 'completed' || update.status === 'failed'
    await this.#calls.take(update, update.sessionUpdate === 'tool_call' && !isOver)
  }

  plan(name: string, entries: Update['entries'], markdown?: string): void {
    this.#silent = false
    this.#speech.pause()
    this.#plans.show(name, entries, markdown)
  }

  used({ used, size, cost }: Update): void {
    const context = JSON.parse(JSON.stringify({ used, size, cost })) as object
    this.#used({ _meta: { ...this.#usage._meta, 'x-atrium.context': context } })
  }

  compacted(status: Update['status'], summary: Update['summary']): void {
    if (status === 'completed')
      this.note(['The agent has compacted what it remembers.', summary ?? ''].join(' ').trim())
  }

  #used(more: { readonly [K in keyof UsageInfo]?: UsageInfo[K] | undefined }): void {
    const usage = compact<UsageInfo>({ ...this.#usage, ...more })
    if (JSON.stringify(usage) === JSON.stringify(this.#usage)) return
    this.#usage = usage
    this.#voice.say({ type: 'chat/usage', usage })
  }

  async permission(asked: Asked): Promise<object> {
    const { toolCall = {}, options = [] } = asked as PermissionRequest
    this.#speech.pause()
    // That it waits for an answer is said by asking.
    const { reason, content } = apart(toolCall)
    const call = await this.#calls.take({ ...toolCall, status: null, content }, true)
    const offered = optionsOf(options)
    const shown = offered.map(({ option }) => option)
    const decided = await this.#calls
      .ask(call, { ...(shown.length > 0 && { options: shown }), ...(reason && { reason }) })
      .catch(() => undefined)
    if (decided?.status === 'cancelled') this.#denied = true
    return { outcome: outcomeOf(decided, offered) }
  }

  file(asked: Asked): Promise<object> {
    return writeFile(asked, this.#chat, this.#calls)
  }

  form(asked: Asked): Promise<object> {
    this.#speech.pause()
    return elicit(asked, this.#chat, this.#voice, this.#newId()).catch((error: unknown) => {
      // Else the turn is over, and nobody will answer.
      if (error instanceof AhpError) throw error
      return { action: 'cancel' }
    })
  }

  terminal(what: 'create' | 'output' | 'exit' | 'kill' | 'release', asked: Asked): Promise<object> {
    if (what === 'create') return this.#terminals.create(asked, this.#calls)
    return Promise.resolve(this.#terminals[what](asked))
  }
}

/** What is said with a question is no output of the call, but why it is asked for. */
function apart({ content }: ToolCall): {
  readonly reason: string
  readonly content: readonly CallContent[] | null
} {
  const items = Array.isArray(content) ? (content as readonly CallContent[]) : []
  const words = items.flatMap((item) =>
    item?.type === 'content' && item.content?.type === 'text' ? [String(item.content.text)] : [],
  )
  const rest = items.filter((item) => item?.type !== 'content')
  return { reason: words.join('\n').slice(0, longestReason), content: rest.length > 0 ? rest : null }
}

const longestReason = 2000

/** Beyond so many words that wait for one that takes time, the agent has to. */
const mostQueued = 256

/** No name is given twice, also where a turn was taken up again and something of it has no name. */
function lastNumber({ state: { activeTurn }, turnId }: Chat): number {
  const parts = activeTurn?.responseParts ?? []
  const names = parts.flatMap((part) => {
    if (part.kind === 'toolCall') return part.toolCall.toolCallId
    if (part.kind === 'inputRequest') return part.request.id
    return 'id' in part && typeof part.id === 'string' ? part.id : []
  })
  const numbers = names.map((name) => Number(name.slice(turnId.length + 1)) || 0)
  return Math.max(parts.length, ...numbers)
}

type Heard = (turn: AcpTurn, update: Update) => void | Promise<void>

/** By what it is called. What is not here is not shown: it is about the session, or from a later version. */
const heard: ReadonlyMap<string, Heard> = new Map<string, Heard>([
  ['agent_message_chunk', (turn, update) => turn.write('markdown', update)],
  ['agent_thought_chunk', (turn, update) => turn.write('reasoning', update)],
  ['tool_call', (turn, update) => turn.call(update)],
  ['tool_call_update', (turn, update) => turn.call(update)],
  ['plan', (turn, { entries }) => turn.plan('', entries)],
  ['plan_update', (turn, { plan }) => turn.plan(plan?.planId ?? '', plan?.entries, plan?.content)],
  ['usage_update', (turn, update) => turn.used(update)],
  ['notice', (turn, { title, description }) => turn.note([title, description].filter(Boolean).join(': '))],
  ['compaction_update', (turn, { status, summary }) => turn.compacted(status, summary)],
])

const asks: ReadonlyMap<string, (turn: AcpTurn, asked: Asked) => Promise<object>> = new Map([
  ['session/request_permission', (turn: AcpTurn, asked: Asked) => turn.permission(asked)],
  ['fs/write_text_file', (turn: AcpTurn, asked: Asked) => turn.file(asked)],
  ['elicitation/create', (turn: AcpTurn, asked: Asked) => turn.form(asked)],
  ['terminal/create', (turn: AcpTurn, asked: Asked) => turn.terminal('create', asked)],
  ['terminal/output', (turn: AcpTurn, asked: Asked) => turn.terminal('output', asked)],
  ['terminal/wait_for_exit', (turn: AcpTurn, asked: Asked) => turn.terminal('exit', asked)],
  ['terminal/kill', (turn: AcpTurn, asked: Asked) => turn.terminal('kill', asked)],
  ['terminal/release', (turn: AcpTurn, asked: Asked) => turn.terminal('release', asked)],
])

/** Why a turn ended, where that is not because it was done. */
const endings: ReadonlyMap<string, string> = new Map([
  ['max_tokens', 'The agent stopped here: its answer was as long as it may be.'],
  ['max_turn_requests', 'The agent stopped here: it asked its model as often as it may in one turn.'],
  ['refusal', 'The agent refused to go on.'],
  ['cancelled', 'The agent stopped here.'],
])
