import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChatInputRequest } from '@atrium/protocol/chat/request'
import type { ChatState, InputRequestPart, ResponsePart } from '@atrium/protocol/chat/state'
import type { ToolCallPendingConfirmation, ToolCallState } from '@atrium/protocol/chat/tool'
import type { SessionInputRequest, SessionState } from '@atrium/protocol/session/state'
import { activityOf, Activity } from '@atrium/protocol/status'
import { Failed, Skipped } from './check.ts'
import type { Kit } from './kit.ts'
import { talkOf } from './talk.ts'
import type { Talk } from './talk.ts'

/** A turn that goes no further until somebody answers. */
export interface Waiting {
  readonly talk: Talk
  readonly turnId: string
}

export interface WaitingCall extends Waiting {
  readonly call: ToolCallPendingConfirmation
}

export interface WaitingForm extends Waiting {
  readonly request: ChatInputRequest
}

/** A tool call that asks for approval. */
export async function waitingCall(kit: Kit): Promise<WaitingCall> {
  const { known, offer } = kit
  known.callless ??= unprompted(offer.toolPrompt, 'tool', 'ask before it uses a tool')
  const look = ({ activeTurn }: ChatState) => callsOf(activeTurn?.responseParts).find(asks)
  const told = (action: Action) => action.type === 'chat/toolCallReady' && !('confirmed' in action)
  const { found, ...waiting } = await made(kit, 'callless', offer.toolPrompt, look, told)
  return { ...waiting, call: found }
}

/** Questions that an agent has put. */
export async function waitingForm(kit: Kit): Promise<WaitingForm> {
  const { known, offer } = kit
  known.formless ??= unprompted(offer.formPrompt, 'form', 'put questions')
  const look = ({ activeTurn }: ChatState) =>
    activeTurn?.responseParts.filter(isForm).find(({ response }) => response === undefined)
  const told = ({ type }: Action) => type === 'chat/inputRequested'
  const { found, ...waiting } = await made(kit, 'formless', offer.formPrompt, look, told)
  return { ...waiting, request: found.request }
}

/** A turn that waits, for whatever it is, and how it is let go on. */
export async function waiting(kit: Kit): Promise<Waiting & { readonly release: Action }> {
  if (kit.offer.formPrompt !== undefined && kit.known.formless === undefined) {
    const form = await waitingForm(kit)
    return { ...form, release: completed(form, 'decline') }
  }
  const call = await waitingCall(kit)
  return { ...call, release: denied(call) }
}

function unprompted(prompt: string | undefined, flag: string, what: string): string | undefined {
  return prompt === undefined ? `no --${flag}-prompt says what makes the agent ${what}` : undefined
}

/** Begins a turn and waits until it has what is looked for. Where it has none, no other rule tries that again. */
async function made<T>(
  kit: Kit,
  why: 'callless' | 'formless',
  prompt: string | undefined,
  look: (state: ChatState) => T | undefined,
  told: (action: Action) => boolean,
): Promise<Waiting & { readonly found: T }> {
  const { known, turnMs } = kit
  if (known[why] !== undefined) throw new Skipped(known[why])
  const talk = await talkOf(kit)
  const turnId = await talk.begin(prompt)
  const seen = () =>
    look(talk.state()) ?? talk.ends(turnId).at(0) ?? talk.said().find(({ action }) => told(action))
  await talk.client.until('the agent to ask', seen, turnMs).catch((error: Error) => {
    throw new Skipped((known[why] = error.message))
  })
  const found = look(talk.state())
  if (found === undefined)
    throw new Skipped((known[why] = `the agent did not ask when it was told ${JSON.stringify(prompt)}`))
  return { talk, turnId, found }
}

/** What there is to say to a call that waits; safe, as far as the agent's prompt is. */
export function approved({ turnId, call }: WaitingCall, more: object = {}): Action {
  const answer = { approved: true, confirmed: 'user-action', ...more }
  return { type: 'chat/toolCallConfirmed', turnId, toolCallId: call.toolCallId, ...answer } as Action
}

export function denied({ turnId, call }: WaitingCall, more: object = {}): Action {
  const answer = { approved: false, reason: 'denied', ...more }
  return { type: 'chat/toolCallConfirmed', turnId, toolCallId: call.toolCallId, ...answer } as Action
}

export function completed({ request }: { request: ChatInputRequest }, response: string, more = {}): Action {
  return { type: 'chat/inputCompleted', requestId: request.id, response, ...more } as Action
}

export function cancelled({ turnId }: Waiting): Action {
  return { type: 'chat/turnCancelled', turnId, duration: 0 } as Action
}

/** A call, wherever it is in a chat by now. */
export function callIn(state: ChatState, { toolCallId }: { toolCallId: string }): ToolCallState | undefined {
  return callsIn(state).find((call) => call.toolCallId === toolCallId)
}

export function formIn(state: ChatState, { id }: ChatInputRequest): InputRequestPart | undefined {
  return partsOf(state)
    .filter(isForm)
    .find(({ request }) => request.id === id)
}

/** What a session says that a chat waits for. */
export function neededIn({ inputNeeded = [] }: SessionState, chat: Uri): readonly SessionInputRequest[] {
  return inputNeeded.filter((entry) => entry.chat === chat)
}

export function needsInput({ status }: { readonly status: number }): boolean {
  return activityOf(status) === Activity.InputNeeded
}

/** Waits until what a session says that a chat waits for is as wished. Whether it comes at all is judged, too. */
export function untilNeeded<T>(talk: Talk, what: string, look: (all: Needed) => T | undefined): Promise<T> {
  const now = () => neededIn(talk.sessionState(), talk.chat)
  return talk.client
    .until(what, () => look(now()))
    .catch(() => {
      throw new Failed(what, JSON.stringify(now().map(({ kind, id }) => ({ kind, id }))))
    })
}

type Needed = readonly SessionInputRequest[]

export function callsIn(state: ChatState): readonly ToolCallState[] {
  return callsOf(partsOf(state))
}

function partsOf({ activeTurn, turns }: ChatState): readonly ResponsePart[] {
  return [...turns.flatMap(({ responseParts }) => responseParts), ...(activeTurn?.responseParts ?? [])]
}

function callsOf(parts: readonly ResponsePart[] = []): readonly ToolCallState[] {
  return parts.flatMap((part) => (part.kind === 'toolCall' ? [part.toolCall] : []))
}

function asks(call: ToolCallState): call is ToolCallPendingConfirmation {
  return call.status === 'pending-confirmation'
}

function isForm(part: ResponsePart): part is InputRequestPart {
  return part.kind === 'inputRequest'
}
