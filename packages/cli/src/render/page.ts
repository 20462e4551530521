import type { Message, MessageAttachment } from '@atrium/protocol/chat/message'
import type { ActiveTurn, ChatState, ResponsePart, Turn } from '@atrium/protocol/chat/state'
import type { ToolCallState, ToolResultContent } from '@atrium/protocol/chat/tool'
import { harmless, onOneLine } from '../terminal/output.ts'
import { textOf } from '../session/pending-requests.ts'

/** A chat as a page to keep: who said what, what was done, what was attached. */
export function chatPage(chat: ChatState): string {
  const turns: readonly (Turn | ActiveTurn)[] = chat.activeTurn
    ? [...chat.turns, chat.activeTurn]
    : chat.turns
  const pieces = turns.map((turn, at) => turnPage(turn, at + 1))
  return [`## ${onOneLine(chat.title) || 'Chat'}`, '', ...pieces].join('\n')
}

function turnPage(turn: Turn | ActiveTurn, number: number): string {
  const { message, responseParts, startedAt } = turn
  const when = startedAt === undefined ? '' : ` · ${onOneLine(startedAt)}`
  const state = 'state' in turn ? turn.state : 'going on'
  const end = state === 'complete' ? '' : ` · ${state}`
  return [
    `### ${number} · ${harmless(speaker(message))}${when}${end}`,
    '',
    harmless(message.text),
    '',
    ...(message.attachments ?? []).map((each) => `- attached: ${attachmentName(each)}\n`),
    ...responseParts.map((part) => `${partPage(part)}\n`),
  ].join('\n')
}

/** People say nothing of themselves in a message; whatever else speaks is named. */
export function speaker({ origin }: Message): string {
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
  if (part.kind === 'markdown') return harmless(part.content)
  if (part.kind === 'reasoning') return quoted(harmless(part.content))
  if (part.kind === 'toolCall') return callPage(part.toolCall)
  if (part.kind === 'systemNotification') return `*${onOneLine(textOf(part.content))}*`
  if (part.kind === 'contentRef') return `[${harmless(part.uri)}](${harmless(part.uri)})`
  if (part.kind === 'error') return `**Failed:** ${onOneLine(part.error.message)}`
  if (part.kind === 'inputRequest') return formPage(part)
  return `*(${onOneLine((part as { readonly kind: string }).kind)})*`
}

function callPage(call: ToolCallState): string {
  const input = 'toolInput' in call && typeof call.toolInput === 'string' ? call.toolInput : undefined
  const content = 'content' in call ? (call.content ?? []).map(contentPage) : []
  return [
    `**${onOneLine(call.displayName)}** (${callState(call)}): ${callTitle(call)}`,
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
  if (content.type === 'text') return content.text.trim() === '' ? '' : fenced(content.text)
  if (content.type === 'terminal') return `terminal: ${harmless(content.resource)}`
  if (content.type === 'resource') return `kept apart: ${harmless(content.uri)}`
  if (content.type === 'subagent')
    return `worker: ${onOneLine(content.title)} (${harmless(content.resource)})`
  if (content.type === 'fileEdit')
    return `changed: ${harmless(content.after?.uri ?? content.before?.uri ?? '')}`
  if (content.type === 'embeddedResource') return `embedded: ${onOneLine(content.contentType)}`
  return `(${onOneLine((content as { readonly type: string }).type)})`
}

function formPage({ request, response }: Extract<ResponsePart, { readonly kind: 'inputRequest' }>): string {
  const answers = new Map(Object.entries(request.answers ?? {}))
  const lines = (request.questions ?? []).map(({ id, message }) => {
    const answer = answers.get(id)
    const value = answer?.state === 'submitted' ? JSON.stringify(answer.value.value) : 'no answer'
    return `- ${onOneLine(message)} ${harmless(value)}`
  })
  return [`**Asked** (${response ?? 'open'}): ${onOneLine(request.message ?? '')}`, ...lines].join('\n')
}

function quoted(text: string): string {
  return text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n')
}

/** With more ticks than stand in it, so that nothing ends it early. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${harmless(text).trimEnd()}\n${fence}`
}
