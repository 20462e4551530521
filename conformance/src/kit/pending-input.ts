import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChatInputRequest } from '@atrium/protocol/chat/request'
import type { ChatState, InputRequestPart, ResponsePart } from '@atrium/protocol/chat/state'
import type { ToolCallPendingConfirmation, ToolCallState } from '@atrium/protocol/chat/tool'
import type { SessionInputRequest, SessionState } from '@atrium/protocol/session/state'
import { activityOf, Activity } from '@atrium/protocol/status'
import { actionOf } from './action.ts'
import { Failed, Skipped } from './check.ts'
import type { Kit } from './kit.ts'
import { openConversation } from './conversation.ts'
import type { Conversation } from './conversation.ts'
import { beginningWith } from './rule.ts'

/** A turn that waits for input from a user. */
export interface PendingTurn {
  readonly conversation: Conversation
  readonly turnId: string
}

export interface PendingCall extends PendingTurn {
  readonly call: ToolCallPendingConfirmation
}

export interface PendingRequest extends PendingTurn {
  readonly request: ChatInputRequest
}

/** Starts a turn and waits until one of its tool calls asks for approval. */
export async function pendingCall(kit: Kit): Promise<PendingCall> {
  const { found, ...turn } = await startPending(kit, {
    skip: 'call',
    prompt: kit.options.toolPrompt,
    withoutPrompt: 'no --tool-prompt says how to make the agent ask before it uses a tool',
    find: ({ activeTurn }) => callsOf(activeTurn?.responseParts).find(isPendingConfirmation),
    isAsked: ({ type, ...fields }) => type === 'chat/toolCallReady' && !('confirmed' in fields),
  })
  return { ...turn, call: found }
}

/** A test with a call that asks for approval. */
export const withCall = beginningWith(pendingCall)

/** Starts a turn and waits until the agent asks questions. */
export async function pendingRequest(kit: Kit): Promise<PendingRequest> {
  const { found, ...turn } = await startPending(kit, {
    skip: 'request',
    prompt: kit.options.formPrompt,
    withoutPrompt: 'no --form-prompt says how to make the agent ask questions',
    find: ({ activeTurn }) =>
      activeTurn?.responseParts.filter(isInputRequest).find(({ response }) => response === undefined),
    isAsked: ({ type }) => type === 'chat/inputRequested',
  })
  return { ...turn, request: found.request }
}

/** A test with open questions. */
export const withRequest = beginningWith(pendingRequest)

/** Starts a turn that waits for any kind of input. `release` is the action that lets the turn continue. */
export async function pendingTurn(kit: Kit): Promise<PendingTurn & { readonly release: Action }> {
  if (kit.options.formPrompt !== undefined && kit.skips.request === undefined) {
    const pending = await pendingRequest(kit)
    return { ...pending, release: completion(pending, 'decline') }
  }
  const pending = await pendingCall(kit)
  return { ...pending, release: denial(pending) }
}

interface Wanted<T> {
  /** Remembers a failure in `SkipReasons`, so that later rules are skipped instead of waiting for the same timeout. */
  readonly skip: 'call' | 'request'
  readonly prompt: string | undefined
  /** The reason to skip the rule if the command line gives no prompt. */
  readonly withoutPrompt: string
  readonly find: (state: ChatState) => T | undefined
  /**
   * Tells whether the agent asks for input by this action. Such an action ends the wait, even if `find` finds nothing
   * in the state.
   */
  readonly isAsked: (action: Action) => boolean
}

/** Starts a turn and waits until `find` finds what it looks for in the chat state: a call or a request. */
async function startPending<T>(
  kit: Kit,
  { skip, prompt, withoutPrompt, find, isAsked }: Wanted<T>,
): Promise<PendingTurn & { readonly found: T }> {
  const { skips, turnTimeoutMs } = kit
  if (prompt === undefined) skips[skip] ??= withoutPrompt
  if (skips[skip] !== undefined) throw new Skipped(skips[skip])
  const conversation = await openConversation(kit)
  const turnId = await conversation.beginTurn(prompt)
  const settled = () =>
    find(conversation.state()) ??
    conversation.turnEnds(turnId).at(0) ??
    conversation.accepted().find((envelope) => isAsked(envelope.action))
  await conversation.client.until('the agent to ask', settled, turnTimeoutMs).catch((error: Error) => {
    throw new Skipped((skips[skip] = error.message))
  })
  const found = find(conversation.state())
  if (found === undefined)
    throw new Skipped((skips[skip] = `the agent did not ask after the prompt ${JSON.stringify(prompt)}`))
  return { conversation, turnId, found }
}

/**
 * The action that approves a call. The agent then runs the tool, so approving is only as safe as the prompt on the
 * command line.
 */
export function approval({ turnId, call }: PendingCall, more: object = {}): Action {
  const answer = { approved: true, confirmed: 'user-action', ...more }
  return actionOf('chat/toolCallConfirmed', { turnId, toolCallId: call.toolCallId, ...answer })
}

export function denial({ turnId, call }: PendingCall, more: object = {}): Action {
  const answer = { approved: false, reason: 'denied', ...more }
  return actionOf('chat/toolCallConfirmed', { turnId, toolCallId: call.toolCallId, ...answer })
}

export function completion({ request }: { request: ChatInputRequest }, response: string, more = {}): Action {
  return actionOf('chat/inputCompleted', { requestId: request.id, response, ...more })
}

export function cancellation({ turnId }: PendingTurn): Action {
  return actionOf('chat/turnCancelled', { turnId, duration: 0 })
}

/** Finds a call in any turn of a chat. */
export function callIn(state: ChatState, { toolCallId }: { toolCallId: string }): ToolCallState | undefined {
  return callsIn(state).find((call) => call.toolCallId === toolCallId)
}

export function requestIn(state: ChatState, { id }: ChatInputRequest): InputRequestPart | undefined {
  return partsOf(state)
    .filter(isInputRequest)
    .find(({ request }) => request.id === id)
}

/** The entries of `inputNeeded` in a session that concern this chat. */
export function inputNeededIn({ inputNeeded = [] }: SessionState, chat: Uri): readonly SessionInputRequest[] {
  return inputNeeded.filter((entry) => entry.chat === chat)
}

export function needsInput({ status }: { readonly status: number }): boolean {
  return activityOf(status) === Activity.InputNeeded
}

/** Waits until `look` accepts the `inputNeeded` entries of the chat. A timeout fails the rule. */
export function untilInputNeeded<T>(
  conversation: Conversation,
  what: string,
  look: (entries: readonly SessionInputRequest[]) => T | undefined,
): Promise<T> {
  const entries = () => inputNeededIn(conversation.sessionState(), conversation.chat)
  return conversation.client
    .until(what, () => look(entries()))
    .catch(() => {
      throw new Failed(what, JSON.stringify(entries().map(({ kind, id }) => ({ kind, id }))))
    })
}

export function callsIn(state: ChatState): readonly ToolCallState[] {
  return callsOf(partsOf(state))
}

function partsOf({ activeTurn, turns }: ChatState): readonly ResponsePart[] {
  return [...turns.flatMap(({ responseParts }) => responseParts), ...(activeTurn?.responseParts ?? [])]
}

function callsOf(parts: readonly ResponsePart[] = []): readonly ToolCallState[] {
  return parts.flatMap((part) => (part.kind === 'toolCall' ? [part.toolCall] : []))
}

function isPendingConfirmation(call: ToolCallState): call is ToolCallPendingConfirmation {
  return call.status === 'pending-confirmation'
}

function isInputRequest(part: ResponsePart): part is InputRequestPart {
  return part.kind === 'inputRequest'
}
