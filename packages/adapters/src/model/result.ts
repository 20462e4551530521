import { TurnFailed } from '@atrium/host/ports/agent'
import type { AgentAction, Chat } from '@atrium/host/ports/agent'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { textOf } from '@atrium/protocol/common/content'
import type { ContentRef } from '@atrium/protocol/common/content'
import { limits } from '@atrium/protocol/limits'
import { embeddedText } from './offered/result-content.ts'
import type { PartOptions, TurnContent } from './parts.ts'
import { answerText } from './questions.ts'
import { truncateMiddle } from './text.ts'
import { ownName } from './tools.ts'

/**
 * Lets users confirm a result that holds a private key before the model receives it. Nobody knew of the key when the call was
 * approved, and what a model receives leaves the machine.
 */
export async function* withReview(actions: AsyncIterable<AgentAction>): AsyncIterable<AgentAction> {
  for await (const action of actions) {
    const isReviewed =
      action.type === 'chat/toolCallComplete' &&
      (action.result.content ?? []).some((each) => each.type === 'text' && privateKey.test(each.text))
    yield isReviewed ? { ...action, requiresResultConfirmation: true } : action
  }
}

/** The beginning of a key in the PEM form. Its line breaks may be written as in JSON. A header without a key does not match. */
const privateKey =
  /-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:\\[rn]|\s){1,8}(?:[A-Za-z0-9+/]{16}|[A-Z][\w-]{1,20}: )/

/** Returns the result of a tool call as text for the model. */
export async function resultText(
  call: ToolCallState,
  turn: TurnContent,
  options: PartOptions,
): Promise<string> {
  if (call.status === 'cancelled') return cancellationText(call)
  if (call.status !== 'completed') return interruptedText
  if (ownName(call) === 'ask' && call.success) return answerText(turn, call.toolCallId)
  const texts: string[] = []
  for (const content of call.content ?? []) {
    if (content.type === 'text') texts.push(content.text)
    // Output that was too large for the chat's state is stored as a resource.
    if (content.type === 'resource') texts.push(await readStored(content.uri, options.chat))
    if (content.type === 'embeddedResource') texts.push(embeddedText(content, options.imageResults))
  }
  if (texts.length === 0 && call.structuredContent) texts.push(JSON.stringify(call.structuredContent))
  const problem = call.success ? [] : [`Failed: ${call.error?.message ?? textOf(call.pastTenseMessage)}`]
  const text = [...texts.filter((each) => each !== ''), ...problem].join('\n')
  const whole = text === '' ? textOf(call.pastTenseMessage) : text
  return call.contributor ? foreignText(whole) : whole
}

/**
 * Returns the result of a tool of a client or an MCP server, as text for the model. Nobody has reviewed the result, and it may
 * have any length.
 */
function foreignText(text: string): string {
  return privateKey.test(text)
    ? '(The result contains a private key, and is not shown to you.)'
    : truncateMiddle(text, limits.modelResult)
}

const interruptedText =
  'This was interrupted: it is not known what it has done. Look before you do it again, if it is needed still.'

function cancellationText(call: Extract<ToolCallState, { readonly status: 'cancelled' }>): string {
  if (call.reason === 'skipped') return interruptedText
  if (call.reason === 'result-denied')
    return 'This was done, but the user did not allow you to see the result.'
  const { reasonMessage, userSuggestion } = call
  const reason = reasonMessage === undefined ? '' : textOf(reasonMessage).trim()
  const lines = ['The user did not allow this, and it was not done.']
  if (reason !== '') lines.push(`The reason: ${reason}`)
  if (userSuggestion) lines.push(`The user suggests instead: ${userSuggestion.text}`)
  return lines.join('\n')
}

/** Returns a text of a chat: the text itself, or the text that a reference refers to. */
export async function storedText(
  text: string | ContentRef | undefined,
  chat: Pick<Chat, 'read'>,
): Promise<string> {
  return typeof text === 'object' ? readStored(text.uri, chat) : (text ?? '')
}

async function readStored(uri: string, chat: Pick<Chat, 'read'>): Promise<string> {
  try {
    const { data, encoding } = await chat.read({ type: 'resource', label: 'text', uri })
    return encoding === 'utf-8' ? data : '(This is no text.)'
  } catch (error) {
    if (error instanceof TurnFailed) return '(This is kept no more.)'
    throw error
  }
}
