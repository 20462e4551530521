import { TurnFailed } from '@atrium/host/ports/agent'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import type { StringOrMarkdown } from '@atrium/protocol/common/content'
import type { Reading, Told } from './parts.ts'
import { answerTo } from './questions.ts'

/** What became of a call, in words for the model. */
export async function resultOf(call: ToolCallState, turn: Told, reading: Reading): Promise<string> {
  if (call.status === 'cancelled') return whyNot(call)
  if (call.status !== 'completed' && call.status !== 'pending-result-confirmation') return interrupted
  if (call.toolName === 'ask' && call.success) return answerTo(turn, call.toolCallId)
  const texts: string[] = []
  for (const content of call.content ?? []) {
    if (content.type === 'text') texts.push(content.text)
    // What was too large for the state.
    if (content.type === 'resource') texts.push(await readBack(content.uri, reading))
  }
  const problem = call.success ? [] : [`Failed: ${call.error?.message ?? plain(call.pastTenseMessage)}`]
  const whole = [...texts.filter((text) => text !== ''), ...problem].join('\n')
  return whole === '' ? plain(call.pastTenseMessage) : whole
}

const interrupted =
  'This was interrupted: it is not known what it has done. Look before you do it again, if it is needed still.'

function whyNot(call: Extract<ToolCallState, { readonly status: 'cancelled' }>): string {
  if (call.reason === 'skipped') return interrupted
  const { reasonMessage, userSuggestion } = call
  const said = reasonMessage === undefined ? '' : plain(reasonMessage).trim()
  const words = ['The user did not allow this, and it was not done.']
  if (said !== '') words.push(`The reason: ${said}`)
  if (userSuggestion) words.push(`The user suggests instead: ${userSuggestion.text}`)
  return words.join('\n')
}

async function readBack(uri: string, { chat }: Reading): Promise<string> {
  try {
    const { data, encoding } = await chat.read({ type: 'resource', label: 'output', uri })
    return encoding === 'utf-8' ? data : '(This is no text.)'
  } catch (error) {
    if (error instanceof TurnFailed) return '(This is kept no more.)'
    throw error
  }
}

function plain(text: StringOrMarkdown): string {
  return typeof text === 'string' ? text : text.markdown
}
