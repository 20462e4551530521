import type { Action, Envelope } from '@atrium/protocol/channel'
import type { ActiveTurn, ResponsePart, Turn } from '@atrium/protocol/chat/state'
import { harmless, onOneLine } from '../terminal/output.ts'
import type { Style } from '../terminal/output.ts'
import { textOf } from '../session/pending-requests.ts'
import { callState, callTitle, speaker } from './page.ts'

/** A turn that is over, or goes on, as lines: what was asked, and each thing that came of it. */
export function turnLines(turn: Turn | ActiveTurn, number: number, style: Style): string {
  const state = 'state' in turn ? turn.state : 'going on'
  const colour = { complete: style.green, cancelled: style.yellow, error: style.red, 'going on': style.cyan }[
    state
  ]
  const took =
    'duration' in turn && turn.duration !== undefined ? `${(turn.duration / 1000).toFixed(1)} s` : ''
  const head = [
    style.bold(`turn ${number}`),
    style.dim(onOneLine(turn.startedAt ?? '')),
    colour(state),
    style.dim(took),
  ]
  const asked = line(speaker(turn.message), turn.message.text, style)
  const attached = (turn.message.attachments ?? []).map(({ label }) => line('attached', label, style))
  const parts = turn.responseParts.map((part) => line(...partWords(part), style))
  return [head.filter(Boolean).join('  '), asked, ...attached, ...parts].join('\n')
}

function partWords(part: ResponsePart): readonly [who: string, what: string] {
  if (part.kind === 'markdown') return ['agent', part.content]
  if (part.kind === 'reasoning') return ['thinks', part.content]
  if (part.kind === 'toolCall') return ['tool', `${callTitle(part.toolCall)} (${callState(part.toolCall)})`]
  if (part.kind === 'systemNotification') return ['note', textOf(part.content)]
  if (part.kind === 'inputRequest')
    return ['asks', `${part.request.message ?? 'a form'} (${part.response ?? 'open'})`]
  if (part.kind === 'error') return ['error', part.error.message]
  return [(part as { readonly kind: string }).kind, '']
}

/** Later lines of a text stand under its first. */
function line(who: string, what: string, { dim }: Style): string {
  const text = harmless(what)
    .trimEnd()
    .replaceAll('\n', `\n${' '.repeat(11)}`)
  return `  ${dim(onOneLine(who).slice(0, 8).padEnd(8))} ${text}`
}

/** An action as it happens: its number, who did it, what it is. */
export function actionLine(
  { serverSeq, origin, action, rejectionReason }: Envelope,
  where: string,
  style: Style,
): string {
  const who = origin ? onOneLine(origin.clientId).slice(0, 8) : 'host'
  const refused = rejectionReason === undefined ? '' : style.red(`refused: ${onOneLine(rejectionReason)}`)
  const words = [
    style.dim(String(serverSeq)),
    who.padEnd(8),
    ...(where === '' ? [] : [style.dim(where)]),
    style.cyan(onOneLine(action.type)),
    said(action),
    refused,
  ]
  return words.filter(Boolean).join('  ')
}

/** The one thing of an action that tells a reader most. */
function said(action: Action): string {
  const bag = action as unknown as { readonly [key: string]: unknown }
  for (const key of telling) {
    const words = wordsIn(bag[key])
    if (words !== '') return words.length > 200 ? `${words.slice(0, 200)}…` : words
  }
  return ''
}

const telling = [
  'content',
  'message',
  'invocationMessage',
  'displayName',
  'title',
  'activity',
  'result',
  'part',
  'request',
  'approved',
  'summary',
  'draft',
  'config',
  'changes',
  'toolCallId',
  'turnId',
  'chat',
]

function wordsIn(value: unknown): string {
  if (typeof value === 'string') return onOneLine(value)
  if (typeof value === 'boolean') return String(value)
  if (typeof value !== 'object' || value === null) return ''
  if (Array.isArray(value)) return value.map(wordsIn).filter(Boolean).join(', ')
  const { text, markdown, content, pastTenseMessage, message, title, kind, type } = value as Record<
    string,
    unknown
  >
  const [first] = [pastTenseMessage, text, markdown, content, message, title, kind, type]
    .map(wordsIn)
    .filter(Boolean)
  return first ?? onOneLine(Object.keys(value).join(', '))
}
