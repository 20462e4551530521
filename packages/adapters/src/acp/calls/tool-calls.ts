import type { Chat } from '@atrium/host/ports/agent'
import { TurnFailed } from '@atrium/host/ports/agent'
import { hostToolKey } from '@atrium/host/ports/host-tool'
import { callIn, callsOf } from '@atrium/protocol/chat/calls'
import type { ToolCallState, ToolResultContent } from '@atrium/protocol/chat/tool'
import { messageOf, textOf } from '@atrium/protocol/common/content'
import { resultContent, shownEdits } from './content.ts'
import type { TerminalContent } from './content.ts'
import type { OutputStream } from './output-stream.ts'
import { changesHash, changesKey, isSameCall, previewOf } from './preview.ts'
import {
  applyUpdate,
  firstText,
  isApproved,
  isDecided,
  isInputGrowing,
  labelsOf,
  nameFiles,
  newToolCall,
  questionKey,
  questionOf,
} from './tool-call.ts'
import type { CallLabels, PermittedCall, Preview, Question, ToolCall } from './tool-call.ts'
import type { ToolCallContent, ToolCallUpdate } from '../process/schema.ts'

export interface ToolCallsOptions {
  readonly cwd: string
  readonly newId: () => string
  readonly terminalContent: TerminalContent
}

/**
 * The tool calls of a turn. The first message about a call may be of any kind. Some agents never announce a call, some ask
 * for permission after a call has started, and some never report the end of a call.
 */
export class ToolCalls {
  readonly #chat: Chat
  readonly #output: OutputStream
  readonly #options: ToolCallsOptions
  /** The calls of the agent by the agent's ids, and the calls of the host by their ids in the chat. */
  readonly #calls = new Map<string, ToolCall>()
  /**
   * Approved or pending calls of an earlier agent process. A new call that repeats one of these calls takes over its
   * decision.
   */
  readonly #earlierCalls: ToolCallState[]
  readonly #undone: string[] = []
  #isOneCarriedOut = false
  /** The number of questions in this turn. */
  #questions: number

  constructor(chat: Chat, output: OutputStream, options: ToolCallsOptions) {
    this.#chat = chat
    this.#output = output
    this.#options = options
    const known = callsOf(chat.state.activeTurn?.responseParts)
    // A call with a contributor belongs to the client or server that provides the tool, and is none of the agent's
    // own.
    const own = known.filter(({ contributor }) => !contributor)
    this.#earlierCalls = own.filter((call) => isApproved(call) || call.status === 'pending-confirmation')
    this.#questions = Math.max(0, ...known.map(questionOf))
  }

  /** Applies an update of the agent, and sends the resulting changes to the chat. */
  async update(update: ToolCallUpdate, isNew = false): Promise<ToolCall> {
    const call = this.#recorded(update, isNew)
    if (call.phase === 'ended') return call
    const status = update.status ?? ''
    if (call.phase === 'streaming') this.#streamInput(call)
    // A call whose input still grows is not started yet: only its whole input tells whether it repeats an earlier
    // call.
    if (status === 'in_progress' && !(call.phase === 'unannounced' && isInputGrowing(call, update)))
      this.#run(call)
    if (status === 'completed' || status === 'failed') await this.complete(call, status === 'completed')
    else if (call.phase === 'running' && (update.content || update._meta)) await this.#sendContent(call)
    return call
  }

  /** Asks users about a call, and waits for the decision without a limit. Returns the decided call. */
  async ask(call: ToolCall, question: Question): Promise<ToolCallState | undefined> {
    const earlier = this.#takeOver(call) ?? this.#inherited(call)
    call.earlier = undefined
    if (earlier && isApproved(earlier)) return earlier
    if (earlier) return this.#decided(call, questionOf(earlier))
    if (call.phase === 'unannounced') this.#announce(call)
    const preview = previewOf(call)
    const changes = changesHash(question.edits ?? preview.content)
    const edits = question.edits ?? (await shownEdits(call, this.#chat, this.#options.cwd))
    const number = ++this.#questions
    call.phase = 'pending'
    call.preview = preview
    this.#output.write({
      type: 'chat/toolCallReady',
      toolCallId: call.id,
      invocationMessage: messageOf(preview.title),
      ...(preview.input !== undefined && { toolInput: preview.input }),
      ...(question.options && { options: question.options }),
      ...(edits.length > 0 && { edits: { items: edits } }),
      ...(question.reason && { confirmationTitle: question.reason }),
      // The number identifies this question. The chat's state may not contain the question yet, and still show the
      // answer to an earlier question. The number tells these answers apart.
      _meta: {
        [questionKey]: number,
        [hostToolKey]: question.hostTool ?? '',
        ...(changes !== undefined && { [changesKey]: changes }),
      },
    })
    return this.#decided(call, number)
  }

  async #decided(call: ToolCall, question: number): Promise<ToolCallState | undefined> {
    const state = await this.#chat.when((each) => isDecided(callIn(each, call.id), question))
    const decided = callIn(state, call.id)
    call.phase = decided?.status === 'running' ? 'running' : 'ended'
    return decided
  }

  /**
   * Returns an approved call for an operation that the host does for the agent. The first of these cases counts: a
   * user has approved a call whose preview shows the operation; an open call of the agent shows the operation, and
   * users are asked about it; the host creates a new call, and users are asked about it. In the last two cases, a
   * stored permission for the host's tool answers the question, because the host does the work. Throws if users deny.
   */
  async permitted(
    shows: (preview: Preview) => boolean,
    labels: CallLabels & Pick<ToolCall, 'input'>,
    question: Question,
  ): Promise<PermittedCall> {
    const approved = this.#newest(
      (call) =>
        call.preview !== undefined && shows(call.preview) && this.#confirmation(call) === 'user-action',
    )
    if (approved) return { call: approved, isHostCall: false, preview: approved.preview }
    const isOpen = ({ phase }: ToolCall) => phase === 'streaming' || phase === 'running'
    const open = this.#newest(
      (call) => shows(call) && isOpen(call) && this.#confirmation(call) === 'not-needed',
    )
    const call = open ?? this.#newHostCall(labels)
    const decided = await this.ask(call, { ...question, hostTool: labels.toolName })
    if (decided && isApproved(decided)) return { call, isHostCall: !open }
    throw new TurnFailed('permission', notAllowed)
  }

  #newHostCall(labels: CallLabels & Pick<ToolCall, 'input'>): ToolCall {
    const call = this.#newCall(labels)
    this.#announce(call)
    return call
  }

  #newest(matches: (call: ToolCall) => boolean): ToolCall | undefined {
    return [...this.#calls.values()].findLast(matches)
  }

  /** Returns how a running call was confirmed. Returns `not-needed` for any other call. */
  #confirmation(call: ToolCall): string {
    const state = call.phase === 'running' ? callIn(this.#chat.state, call.id) : undefined
    return state?.status === 'running' && isApproved(state) ? state.confirmed : 'not-needed'
  }

  async complete(call: ToolCall, success: boolean, problem?: string): Promise<void> {
    if (call.phase === 'ended') return
    this.#run(call)
    if (success && this.#confirmation(call) === 'user-action') this.#isOneCarriedOut = true
    call.phase = 'ended'
    // If the content cannot be stored, the call is completed without content and does not stay open.
    const content = await this.#content(call).catch(() => [])
    await nameFiles(call, this.#chat, this.#options.cwd)
    const message = problem ?? (success ? undefined : (firstText(content) ?? 'it failed'))
    this.#output.write({
      type: 'chat/toolCallComplete',
      toolCallId: call.id,
      result: {
        success,
        pastTenseMessage: messageOf(call.title),
        ...(content.length > 0 && { content }),
        ...(message !== undefined && { error: { message: message.slice(0, maxProblemLength) } }),
      },
    })
  }

  /**
   * Completes the open calls as failed at the end of the turn. Pending calls are left out, because the end of the turn
   * cancels them.
   */
  async completeOpen(problem: string): Promise<void> {
    for (const call of this.#calls.values())
      if (call.phase !== 'pending') await this.complete(call, false, problem)
    for (const call of this.#earlierCalls.splice(0).filter(isApproved)) {
      this.#undone.push(textOf(call.invocationMessage) || call.displayName)
      const result = { success: false, pastTenseMessage: notDone, error: { message: notDone } }
      this.#output.write({ type: 'chat/toolCallComplete', toolCallId: call.toolCallId, result })
    }
  }

  /**
   * The titles of the calls that users allowed before or after an interruption, and that the resumed agent has not
   * made. Empty if the agent has carried out another call that users allowed: it may be one of these calls in other
   * words.
   */
  get undone(): readonly string[] {
    return this.#isOneCarriedOut ? [] : this.#undone
  }

  async setContent(call: ToolCall, content: readonly ToolCallContent[]): Promise<void> {
    call.content = content
    if (call.phase === 'running') await this.#sendContent(call)
  }

  /**
   * Applies an update to its call, and returns the call. Creates the call if its id is unknown. If `isNew`, an ended
   * call with the same id is replaced by a new call.
   */
  #recorded(update: ToolCallUpdate, isNew: boolean): ToolCall {
    const agentId = String(update.toolCallId ?? '')
    const previous = this.#calls.get(agentId)
    const known = isNew && previous?.phase === 'ended' ? undefined : previous
    const call = known ?? this.#newCall(labelsOf(update), agentId)
    applyUpdate(call, update)
    // If calls of an earlier process are left, a new call is not announced yet: it may repeat one of these calls, and
    // then takes over the id of that call.
    if (!known && this.#earlierCalls.length === 0) this.#announce(call)
    return call
  }

  #newCall(labels: CallLabels & Partial<ToolCall>, agentId?: string): ToolCall {
    const call = newToolCall(labels, this.#options.newId())
    this.#calls.set(agentId ?? call.id, call)
    return call
  }

  #announce(call: ToolCall): void {
    call.phase = 'streaming'
    const { id: toolCallId, toolName, displayName, title } = call
    // The intention is plain text, so the backquotes of Markdown are removed.
    const intention = title.replaceAll('`', '')
    this.#output.write({ type: 'chat/toolCallStart', toolCallId, toolName, displayName, intention })
  }

  /** Gives a call the id and the decision of the earlier call that it repeats. Returns the earlier call, if there is one. */
  #takeOver(call: ToolCall): ToolCallState | undefined {
    if (call.phase !== 'unannounced') return undefined
    const index = this.#earlierCalls.findIndex((each) => isSameCall(each, call))
    const [earlier] = index < 0 ? [] : this.#earlierCalls.splice(index, 1)
    const state = earlier && callIn(this.#chat.state, earlier.toolCallId)
    const phase = state && isApproved(state) ? 'running' : 'pending'
    if (state) Object.assign(call, { id: state.toolCallId, phase, preview: previewOf(call), earlier: state })
    return state
  }

  /**
   * Returns the present state of the earlier call, if this call has already taken over the id of that call. The
   * earlier decision holds only if tool, input and changes of both calls are the same.
   */
  #inherited(call: ToolCall): ToolCallState | undefined {
    const { earlier } = call
    return earlier && isSameCall(earlier, call) ? callIn(this.#chat.state, earlier.toolCallId) : undefined
  }

  /** Marks a call as running without approval. A pending call stays pending until users decide. */
  #run(call: ToolCall): void {
    this.#takeOver(call)
    if (call.phase === 'running' || call.phase === 'pending' || call.phase === 'ended') return
    if (call.phase === 'unannounced') this.#announce(call)
    call.phase = 'running'
    this.#output.write({
      type: 'chat/toolCallReady',
      toolCallId: call.id,
      invocationMessage: messageOf(call.title),
      ...(call.input !== undefined && { toolInput: call.input }),
      confirmed: 'not-needed',
    })
  }

  /**
   * Sends the new end of a growing input. If the input changed in another way, nothing is sent here. The whole input is sent
   * when the call is ready.
   */
  #streamInput(call: ToolCall): void {
    const { input = '', streamedInput } = call
    if (input.length <= streamedInput.length || !input.startsWith(streamedInput)) return
    const content = input.slice(streamedInput.length)
    call.streamedInput = input
    this.#output.write({ type: 'chat/toolCallDelta', toolCallId: call.id, content })
  }

  #content(call: ToolCall): Promise<ToolResultContent[]> {
    return resultContent(call, this.#chat, this.#options.cwd, this.#options.terminalContent)
  }

  async #sendContent(call: ToolCall): Promise<void> {
    const content = await this.#content(call)
    if (call.phase === 'running')
      this.#output.write({ type: 'chat/toolCallContentChanged', toolCallId: call.id, content })
  }
}

/** The error message for an operation that users did not approve. */
export const notAllowed = 'no user has allowed this'
const notDone = 'It was allowed, but the agent ended its turn without doing it'
const maxProblemLength = 2000
