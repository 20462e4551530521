import type { Message, MessageAttachment } from '@atrium/protocol/chat/message'
import type { ActiveTurn, ChatState, ResponsePart, Turn } from '@atrium/protocol/chat/state'
import type { ToolCallState, ToolResultContent } from '@atrium/protocol/chat/tool'
import { localTime } from '../terminal/local-time.ts'
import { sanitize, onOneLine } from '../terminal/output.ts'
import { decisionsAbout } from '../session/decision.ts'
import { textOf } from '../session/pending-requests.ts'

/** Returns a chat as Markdown: the messages, answers, tool calls and attachments of all turns. */
export function chatPage(chat: ChatState): string {
  const turns: readonly (Turn | ActiveTurn)[] = chat.activeTurn
    ? [...chat.turns, chat.activeTurn]
    : chat.turns
  const pieces = turns.map((turn, at) => turnPage(turn, at + 1))
  return [`## ${onOneLine(chat.title) || 'Chat'}`, '', ...pieces].join('\n')
}

function turnPage(turn: Turn | ActiveTurn, number: number): string {
  const { message, responseParts, startedAt } = turn
  const when = startedAt === undefined ? '' : ` · ${localTime(startedAt, { zone: true })}`
  const state = 'state' in turn ? turn.state : 'in progress'
  const end = state === 'complete' ? '' : ` · ${state}`
  return [
    `### ${number} · ${sanitize(authorOf(message))}${when}${end}`,
    '',
    sanitize(message.text),
    '',
    ...(message.attachments ?? []).map((each) => `- attached: ${attachmentName(each)}\n`),
    ...responseParts.map((part) => `${partPage(part)}\n`),
  ].join('\n')
}

/** Returns the author of a message: `you` for a user, otherwise the kind of its origin. */
export function authorOf({ origin }: Message): string {
  return origin.kind === 'user' ? 'you' : origin.kind
}

function attachmentName(attachment: MessageAttachment): string {
  const where =
    attachment.type === 'resource'
      ? attachment.uri
      : 'resource' in attachment
        ? attachment.resource
        : undefined
  return onOneLine([attachment.label, typeof where === 'string' ? `(${where})` : ''].join(' '))
}

function partPage(part: ResponsePart): string {
  const { kind }: { readonly kind: string } = part
  if (part.kind === 'markdown') return sanitize(part.content)
  if (part.kind === 'reasoning') return quoted(sanitize(part.content))
  if (part.kind === 'toolCall') return callPage(part.toolCall)
  if (part.kind === 'systemNotification') return `*${onOneLine(textOf(part.content))}*`
  if (part.kind === 'contentRef') return `[${sanitize(part.uri)}](${sanitize(part.uri)})`
  if (part.kind === 'error') return `**Failed:** ${onOneLine(part.error.message)}`
  if (part.kind === 'inputRequest') return formPage(part)
  return `*(${onOneLine(kind)})*`
}

function callPage(call: ToolCallState): string {
  const input = 'toolInput' in call && typeof call.toolInput === 'string' ? call.toolInput : undefined
  const content = 'content' in call ? (call.content ?? []).map(contentPage) : []
  return [
    `**${onOneLine(call.displayName)}** (${[callState(call), ...decisionsAbout(call)].join(', ')}): ${callTitle(call)}`,
    ...(input === undefined ? [] : ['', fenced(input)]),
    ...content.filter(Boolean).flatMap((each) => ['', each]),
  ].join('\n')
}

export function callTitle(call: ToolCallState): string {
  const past = 'pastTenseMessage' in call ? call.pastTenseMessage : undefined
  return onOneLine(textOf(past ?? call.invocationMessage ?? '')) || onOneLine(call.toolName)
}

export function callState(call: ToolCallState): string {
  if (call.status === 'cancelled')
    return call.reasonMessage === undefined
      ? call.reason
      : `${call.reason}: ${onOneLine(textOf(call.reasonMessage))}`
  if (call.status === 'completed') return call.success ? 'done' : 'failed'
  return call.status
}

function contentPage(content: ToolResultContent): string {
  const { type }: { readonly type: string } = content
  if (content.type === 'text') return content.text.trim() === '' ? '' : fenced(content.text)
  if (content.type === 'terminal') return `terminal: ${sanitize(content.resource)}`
  if (content.type === 'resource') return `stored separately: ${sanitize(content.uri)}`
  if (content.type === 'subagent')
    return `worker: ${onOneLine(content.title)} (${sanitize(content.resource)})`
  if (content.type === 'fileEdit')
    return `changed: ${sanitize(content.after?.uri ?? content.before?.uri ?? '')}`
  if (content.type === 'embeddedResource') return `embedded: ${onOneLine(content.contentType)}`
  return `(${onOneLine(type)})`
}

function formPage({ request, response }: Extract<ResponsePart, { readonly kind: 'inputRequest' }>): string {
  const answers = new Map(Object.entries(request.answers ?? {}))
  const lines = (request.questions ?? []).map(({ id, message }) => {
    const answer = answers.get(id)
    const value = answer?.state === 'submitted' ? JSON.stringify(answer.value.value) : 'no answer'
    return `- ${onOneLine(message)} ${sanitize(value)}`
  })
  return [`**Asked** (${response ?? 'open'}): ${onOneLine(request.message ?? '')}`, ...lines].join('\n')
}

function quoted(text: string): string {
  return text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n')
}

/** Returns a code block. Its fence is longer than any run of backticks in the text, so that the text cannot end it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${sanitize(text).trimEnd()}\n${fence}`
}
