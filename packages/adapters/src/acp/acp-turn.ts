import { AhpError } from '@atrium/protocol/errors'
import type { AgentAction, Chat } from '@atrium/host/ports/agent'
import type { UsageInfo } from '@atrium/protocol/common/content'
import { compact } from '@atrium/protocol/update'
import { undoneFailure } from './calls/undone.ts'
import { Compactions } from './parts/compactions.ts'
import { Elicitations } from './parts/elicitation.ts'
import { writeFile } from './calls/files.ts'
import { MessageChunks } from './parts/message-chunks.ts'
import type { OutputStream } from './calls/output-stream.ts'
import { askPermission } from './calls/permission.ts'
import { Plans } from './parts/plan.ts'
import { AcpTerminals } from './calls/terminals.ts'
import { ToolCalls } from './calls/tool-calls.ts'
import { workerCallIn } from './calls/worker-call.ts'
import type { ServedTool } from './tool-server/endpoint.ts'
import { OfferedCalls } from './tool-server/offered-calls.ts'
import { ReportedCalls } from './tool-server/reported-calls.ts'
import { lastIdNumber } from './parts/part-ids.ts'
import type { SessionClient } from './process/connection.ts'
import { fieldsOf } from './process/schema.ts'
import type {
  CompactionUpdate,
  ContentChunk,
  Fields,
  NoticeUpdate,
  PlanUpdate,
  PromptResponse,
  SessionUpdate,
  ToolCallUpdate,
  UsageUpdate,
} from './process/schema.ts'

/**
 * The client side of one prompt. Converts the agent's updates to actions of the turn, and shows the agent's questions to
 * users.
 */
export class AcpTurn implements SessionClient {
  readonly #chat: Chat
  readonly #output: OutputStream
  readonly #calls: ToolCalls
  readonly #chunks: MessageChunks
  readonly plans: Plans
  readonly compactions = new Compactions()
  readonly #elicitations: Elicitations
  readonly #terminals: AcpTerminals
  readonly #newId: () => string
  /**
   * Resolves when all updates received so far are processed. Updates are processed in order, so a slow update delays the next
   * ones.
   */
  #busy: Promise<void> | undefined
  #queued = 0
  #usage: UsageInfo = {}
  #denied = false
  #silent = true
  readonly #reported: ReportedCalls
  /** The agent's calls of offered tools. The agent makes these calls through the host's MCP server. */
  readonly offered: OfferedCalls

  constructor(chat: Chat, output: OutputStream, cwd: string, serverName = '') {
    this.#chat = chat
    this.#output = output
    let last = lastIdNumber(chat)
    this.#newId = () => `${chat.turnId}-${++last}`
    this.#terminals = new AcpTerminals(chat, cwd)
    const terminalContent = (terminalId: string) => this.#terminals.contentOf(terminalId)
    this.#calls = new ToolCalls(chat, output, { cwd, newId: this.#newId, terminalContent })
    this.#chunks = new MessageChunks(chat, output, this.#newId)
    this.plans = new Plans(output, this.#newId)
    this.#elicitations = new Elicitations(chat, output)
    this.#reported = new ReportedCalls(serverName, () => (serverName === '' ? [] : this.offered.list()))
    const write = (action: AgentAction) => output.write(action)
    this.offered = new OfferedCalls({
      chat,
      newId: this.#newId,
      write,
      begins: (tool) => this.#beginOffered(tool),
    })
  }

  update(update: SessionUpdate): void {
    const task = () => updates.get(update.sessionUpdate ?? '')?.(this, update)
    if (this.#busy) return this.#queue(task)
    const done = task()
    if (done) this.#queue(() => done)
  }

  async answer(method: string, params: Fields): Promise<object> {
    // Updates that came before this request are processed first.
    while (this.#busy) await this.#busy
    const answer = answers.get(method)
    if (!answer) throw AhpError.methodNotFound(method)
    this.#silent = false
    return answer(this, params)
  }

  /**
   * Ends the turn after the agent's response to the prompt: closes the open parts, and reports the usage and the stop
   * reason. Throws if a resumed agent has not made a call that users have allowed.
   */
  async end({ stopReason = '', usage }: PromptResponse): Promise<void> {
    await this.close(
      stopReason === 'cancelled' ? 'it was stopped' : 'the agent ended its turn without reporting the result',
    )
    if (usage)
      this.#reportUsage({
        inputTokens: usage.inputTokens,
        outputTokens: usage.outputTokens,
        cacheReadTokens: usage.cachedReadTokens ?? undefined,
      })
    const notice = stopNotices.get(stopReason)
    // Users who denied a call know why the agent stopped, and need no notice.
    if (notice !== undefined && !(stopReason === 'cancelled' && this.#denied)) this.notify(notice)
    const { undone } = this.#calls
    if (undone.length > 0 && stopReason !== 'cancelled') throw undoneFailure(undone)
  }

  /** Completes open tool calls as failed. Completes plans with their last content. */
  async close(problem: string): Promise<void> {
    while (this.#busy) await this.#busy
    await this.#showCalls(this.#reported.release())
    await this.#calls.completeOpen(problem)
    this.plans.complete()
  }

  /** Whether the agent has sent no content and no request. */
  get silent(): boolean {
    return this.#silent
  }

  notify(content: string, meta: object = {}): void {
    this.#chunks.endPart()
    // A notice has no id but consumes a number, so that the number in each id is the position of its part.
    this.#newId()
    this.#output.write({ type: 'chat/responsePart', part: { kind: 'systemNotification', content, ...meta } })
  }

  #queue(task: () => void | Promise<void>): void {
    const before = this.#busy
    if (++this.#queued === maxQueued) this.#output.flow.pause()
    // An update whose processing fails is dropped. The updates after it are still processed.
    const processed: Promise<void> = Promise.resolve(before)
      .then(task)
      .catch(() => {})
      .then(() => {
        if (this.#queued-- === maxQueued) this.#output.flow.resume()
        if (this.#busy === processed) this.#busy = undefined
      })
    this.#busy = processed
  }

  addChunk(kind: 'markdown' | 'reasoning', { content, messageId }: ContentChunk): void | Promise<void> {
    if (typeof content !== 'object' || content === null) return undefined
    this.#silent = false
    return this.#chunks.add(kind, content, messageId)
  }

  /**
   * Shows a call that the agent reports. A call that the agent also makes through the host's MCP server is shown only
   * once.
   */
  async updateCall(update: ToolCallUpdate): Promise<void> {
    this.#silent = false
    this.#chunks.endPart()
    const unasked = workerCallIn(update)
    if (unasked !== undefined) this.notify(unasked)
    await this.#showCalls(this.#reported.filter(update))
  }

  async #showCalls(updates: readonly ToolCallUpdate[]): Promise<void> {
    for (const update of updates) await this.#showCall(update)
  }

  async #showCall(update: ToolCallUpdate): Promise<void> {
    const isEnded = update.status === 'completed' || update.status === 'failed'
    await this.#calls.update(update, update.sessionUpdate === 'tool_call' && !isEnded)
  }

  showPlan({ planId = '', entries, content: markdown, uri }: NonNullable<PlanUpdate['plan']>): void {
    this.#silent = false
    this.#chunks.endPart()
    this.plans.show(
      planId,
      entries,
      markdown ?? (typeof uri === 'string' ? `The plan is in ${uri}.` : undefined),
    )
  }

  /** Reports the size of the agent's context as metadata of the turn's usage. */
  updateUsage({ used, size, cost }: UsageUpdate): void {
    const context: object = JSON.parse(JSON.stringify({ used, size, cost }))
    this.#reportUsage({ _meta: { ...this.#usage._meta, 'x-atrium.context': context } })
  }

  showNotice({ title, description }: NoticeUpdate): void {
    this.notify([title, description].filter(Boolean).join(': '))
  }

  showCompaction(update: CompactionUpdate): void {
    const notice = this.compactions.notice(update)
    if (notice !== undefined) this.notify(notice)
  }

  #reportUsage(changes: { readonly [K in keyof UsageInfo]?: UsageInfo[K] | undefined }): void {
    const usage = compact<UsageInfo>({ ...this.#usage, ...changes })
    if (JSON.stringify(usage) === JSON.stringify(this.#usage)) return
    this.#usage = usage
    this.#output.write({ type: 'chat/usage', usage })
  }

  async #beginOffered({ name }: ServedTool): Promise<void> {
    while (this.#busy) await this.#busy
    this.#silent = false
    this.#chunks.endPart()
    this.#reported.requested(name)
  }

  async requestPermission(params: Fields): Promise<object> {
    this.#chunks.endPart()
    const { toolCallId } = fieldsOf(params['toolCall'])
    await this.#showCalls(this.#reported.release(String(toolCallId)))
    const { outcome, denied } = await askPermission(params, this.#calls)
    if (denied) this.#denied = true
    return { outcome }
  }

  writeFile(params: Fields): Promise<object> {
    return writeFile(params, this.#chat, this.#calls)
  }

  elicit(params: Fields): Promise<object> {
    this.#chunks.endPart()
    return this.#elicitations.ask(params, this.#newId())
  }

  elicited(elicitationId: string): void {
    this.#elicitations.complete(elicitationId)
  }

  createTerminal(params: Fields): Promise<object> {
    return this.#terminals.create(params, this.#calls)
  }

  async useTerminal(operation: 'output' | 'exit' | 'kill' | 'release', params: Fields): Promise<object> {
    return this.#terminals[operation](params)
  }
}

/** The number of queued updates at which reading from the agent is paused. */
const maxQueued = 256

type ApplyUpdate = (turn: AcpTurn, update: object) => void | Promise<void>

/**
 * The effects of updates on the turn, by `sessionUpdate`. Updates that are not listed concern the session, or belong to a
 * later version of ACP.
 */
const updates: ReadonlyMap<string, ApplyUpdate> = new Map<string, ApplyUpdate>([
  ['agent_message_chunk', (turn, update) => turn.addChunk('markdown', update)],
  ['agent_thought_chunk', (turn, update) => turn.addChunk('reasoning', update)],
  ['tool_call', (turn, update) => turn.updateCall(update)],
  ['tool_call_update', (turn, update) => turn.updateCall(update)],
  ['plan', (turn, { entries = [] }: PlanUpdate) => turn.showPlan({ entries })],
  ['plan_update', (turn, { plan }: PlanUpdate) => turn.showPlan(plan ?? {})],
  ['plan_removed', (turn, { planId = '' }: PlanUpdate) => turn.plans.remove(planId)],
  ['usage_update', (turn, update) => turn.updateUsage(update)],
  ['notice', (turn, update) => turn.showNotice(update)],
  ['compaction_update', (turn, update) => turn.showCompaction(update)],
  ['compaction_summary_chunk', (turn, update) => turn.compactions.addChunk(update)],
])

type Answer = (turn: AcpTurn, params: Fields) => Promise<object>

/** The answers to the agent's requests, by method. */
const answers: ReadonlyMap<string, Answer> = new Map<string, Answer>([
  ['session/request_permission', (turn, params) => turn.requestPermission(params)],
  ['fs/write_text_file', (turn, params) => turn.writeFile(params)],
  ['elicitation/create', (turn, params) => turn.elicit(params)],
  ['terminal/create', (turn, params) => turn.createTerminal(params)],
  ['terminal/output', (turn, params) => turn.useTerminal('output', params)],
  ['terminal/wait_for_exit', (turn, params) => turn.useTerminal('exit', params)],
  ['terminal/kill', (turn, params) => turn.useTerminal('kill', params)],
  ['terminal/release', (turn, params) => turn.useTerminal('release', params)],
])

/** Notices for turns that ended early, by stop reason. */
const stopNotices: ReadonlyMap<string, string> = new Map([
  ['max_tokens', 'The agent stopped here: its answer reached the maximum length.'],
  [
    'max_turn_requests',
    'The agent stopped here: it reached the maximum number of model requests in one turn.',
  ],
  ['refusal', 'The agent refused to go on.'],
  ['cancelled', 'The agent stopped here.'],
])
