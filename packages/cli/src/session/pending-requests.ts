import type { Uri } from '@atrium/protocol/channel'
import type { ConfirmationOption } from '@atrium/protocol/chat/tool'
import type { StringOrMarkdown } from '@atrium/protocol/common/content'
import type { SessionInputRequest, SessionState } from '@atrium/protocol/session/state'

/**
 * A request that a user must answer: a tool call to approve, a form, or a sign-in. A tool call that a client shall run is
 * not such a request.
 */
export type Request = Exclude<SessionInputRequest, { readonly kind: 'toolClientExecution' }>

/** Returns the open requests of a session, or those of one chat and of the chats that its tool calls have started. */
export function openRequests(session: SessionState, chat?: Uri): readonly Request[] {
  return (session.inputNeeded ?? []).filter(
    (each): each is Request =>
      kinds.has(each.kind) && (chat === undefined || worksFor(session, each.chat, chat)),
  )
}

/** Returns the session as if it had only this chat and the chats that its tool calls have started. */
export function withOnlyChat(session: SessionState, chat: Uri): SessionState {
  const chats = session.chats.filter(({ resource }) => worksFor(session, resource, chat))
  return { ...session, chats, inputNeeded: openRequests(session, chat) }
}

/** The kinds of requests that this build knows. A newer host may send others. */
const kinds: ReadonlySet<string> = new Set(['chatInput', 'toolConfirmation', 'toolAuthentication'])

/** Whether `worker` is `chat` itself, or was started by a tool call in `chat`, directly or through other workers. */
function worksFor({ chats }: SessionState, worker: Uri, chat: Uri): boolean {
  const seen = new Set<Uri>()
  for (let at: Uri | undefined = worker; at !== undefined && !seen.has(at);) {
    if (at === chat) return true
    seen.add(at)
    const origin: (typeof chats)[number]['origin'] = chats.find(({ resource }) => resource === at)?.origin
    at = origin?.kind === 'tool' ? origin.chat : undefined
  }
  return false
}

/** Returns the id of the tool call, or of the form. */
export function requestIdOf(request: Request): string {
  return request.kind === 'chatInput' ? request.request.id : request.toolCall.toolCallId
}

/**
 * Returns a key of the request. The id of the request is not enough: a call asks under the same id whether it may run and,
 * later, about its result. The answer to one question does not answer the other.
 */
export function requestKeyOf(request: Request): string {
  return request.kind === 'chatInput' ? request.id : `${request.id} ${request.toolCall.status}`
}

/** Returns what is asked, as one sentence. */
export function subjectOf(request: Request): string {
  if (request.kind === 'chatInput') return request.request.message ?? 'a question'
  const { toolCall: call } = request
  return call.status === 'pending-result-confirmation'
    ? `Use the result: ${textOf(call.pastTenseMessage)}`
    : textOf(call.invocationMessage)
}

/** An open request as `approve` and `deny` list it. The keys are those of `--json`. */
export interface PendingRequest {
  /** The id of the tool call, or of the form. */
  readonly id: string
  readonly chat: Uri
  readonly kind: 'call' | 'result' | 'form' | 'login'
  readonly turnId?: string
  readonly tool?: string
  readonly what: string
  readonly input?: string
  readonly editable?: boolean
  readonly options: readonly ConfirmationOption[]
}

/** Returns the open requests of all chats of a session, also of chats that a tool call has started. */
export function pendingRequestsIn(session: SessionState): readonly PendingRequest[] {
  return openRequests(session).map(pendingRequest)
}

function pendingRequest(request: Request): PendingRequest {
  const { chat } = request
  const id = requestIdOf(request)
  if (request.kind === 'chatInput') {
    const { message, questions = [] } = request.request
    const what = message ?? questions.map((question) => question.message).join(' ')
    return { id, chat, kind: 'form', what, options: [] }
  }
  const { turnId, toolCall: call } = request
  const common = { id, chat, turnId, tool: call.toolName, ...inputOf(call), options: [] }
  const what = textOf(call.invocationMessage) || call.displayName
  if (call.status === 'auth-required') return { ...common, kind: 'login', what }
  if (call.status === 'pending-result-confirmation')
    return { ...common, kind: 'result', what: textOf(call.pastTenseMessage) || what }
  const { options = [], editable = false, confirmationTitle } = call
  const title = confirmationTitle === undefined ? what : textOf(confirmationTitle)
  return { ...common, kind: 'call', what: title, options, editable }
}

export function textOf(text: StringOrMarkdown): string {
  return typeof text === 'string' ? text : text.markdown
}

function inputOf(call: { readonly toolInput?: unknown }): { readonly input?: string } {
  return typeof call.toolInput === 'string' ? { input: call.toolInput } : {}
}
