import type { Client } from '@atrium/client/client'
import type { Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { ConfirmationOption, ToolCallState } from '@atrium/protocol/chat/tool'
import type { StringOrMarkdown } from '@atrium/protocol/common/content'
import type { SessionInputRequest, SessionState } from '@atrium/protocol/session/state'

/** Something in a session that waits for a person. */
export interface Waiting {
  /** Of the tool call, or of the form. */
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

/** Over all of its chats, also those of workers. What a client runs by itself waits for no person. */
export function waitingIn({ inputNeeded = [] }: SessionState): readonly Waiting[] {
  return inputNeeded.flatMap((request) => waitingOf(request) ?? [])
}

function waitingOf(request: SessionInputRequest): Waiting | undefined {
  const { chat } = request
  if (request.kind === 'chatInput') {
    const { id, message, questions = [] } = request.request
    const what = message ?? questions.map((question) => question.message).join(' ')
    return { id, chat, kind: 'form', what, options: [] }
  }
  if (request.kind !== 'toolConfirmation' && request.kind !== 'toolAuthentication') return undefined
  const { turnId, toolCall: call } = request
  const base = { id: call.toolCallId, chat, turnId, tool: call.toolName, ...inputOf(call), options: [] }
  const what = textOf(call.invocationMessage) || call.displayName
  if (call.status === 'auth-required') return { ...base, kind: 'login', what }
  if (call.status === 'pending-result-confirmation')
    return { ...base, kind: 'result', what: textOf(call.pastTenseMessage) || what }
  const { options = [], editable = false, confirmationTitle } = call
  const title = confirmationTitle === undefined ? what : textOf(confirmationTitle)
  return { ...base, kind: 'call', what: title, options, editable }
}

export function textOf(text: StringOrMarkdown): string {
  return typeof text === 'string' ? text : text.markdown
}

function inputOf(call: { readonly toolInput?: unknown }): { readonly input?: string } {
  return typeof call.toolInput === 'string' ? { input: call.toolInput } : {}
}

/** What became of a call that waits no more, in words; nothing where no chat of the session knows it. */
export async function fateOf(client: Client, session: SessionState, id: string): Promise<string | undefined> {
  for (const { resource } of session.chats) {
    const chat = client.subscribe('chat', resource, { view: { turns: 5 } })
    const fate = fateIn(await chat.ready(), id)
    chat.release()
    if (fate !== undefined) return fate
  }
  return undefined
}

function fateIn({ turns, activeTurn }: ChatState, id: string): string | undefined {
  for (const { responseParts } of activeTurn ? [...turns, activeTurn] : turns)
    for (const part of responseParts) {
      if (part.kind === 'toolCall' && part.toolCall.toolCallId === id) return wordsFor(part.toolCall)
      if (part.kind === 'inputRequest' && part.request.id === id)
        return part.response === 'accept' ? 'it was answered' : 'it was declined'
    }
  return undefined
}

function wordsFor(call: ToolCallState): string {
  if (call.status === 'cancelled') return call.reason === 'skipped' ? 'its turn is over' : 'it was denied'
  return call.status === 'running' || call.status === 'completed' ? 'it was approved' : 'it is not asking yet'
}
