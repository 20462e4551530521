import { decisionOf } from '@atrium/host/access/decision'
import type { Decided } from '@atrium/host/access/decision'
import type { Action, Envelope } from '@atrium/protocol/channel'
import type { ActiveTurn, ResponsePart, Turn } from '@atrium/protocol/chat/state'
import { localTime } from '../terminal/local-time.ts'
import { sanitize, onOneLine } from '../terminal/output.ts'
import type { Style } from '../terminal/output.ts'
import { deciderName, decisionsAbout } from '../session/decision.ts'
import { textOf } from '../session/pending-requests.ts'
import { authorOf, callState, callTitle } from './page.ts'

/** Returns a turn as lines: a heading, the message, and one entry for each part of the response. */
export function turnLines(turn: Turn | ActiveTurn, number: number, style: Style): string {
  const state = 'state' in turn ? turn.state : 'in progress'
  const colours = {
    complete: style.green,
    cancelled: style.yellow,
    error: style.red,
    'in progress': style.cyan,
  }
  const colour = colours[state]
  const took =
    'duration' in turn && turn.duration !== undefined ? `${(turn.duration / 1000).toFixed(1)} s` : ''
  const head = [
    style.bold(`turn ${number}`),
    style.dim(turn.startedAt === undefined ? '' : localTime(turn.startedAt)),
    colour(state),
    style.dim(took),
  ]
  const asked = line(authorOf(turn.message), turn.message.text, style)
  const attached = (turn.message.attachments ?? []).map(({ label }) => line('attached', label, style))
  const parts = turn.responseParts.map((part) => line(...partWords(part), style))
  return [head.filter(Boolean).join('  '), asked, ...attached, ...parts].join('\n')
}

function partWords(part: ResponsePart): readonly [who: string, what: string] {
  const { kind }: { readonly kind: string } = part
  if (part.kind === 'markdown') return ['agent', part.content]
  if (part.kind === 'reasoning') return ['thinks', part.content]
  if (part.kind === 'toolCall') {
    const about = [callState(part.toolCall), ...decisionsAbout(part.toolCall)].join(', ')
    return ['tool', `${callTitle(part.toolCall)} (${about})`]
  }
  if (part.kind === 'systemNotification') return ['note', textOf(part.content)]
  if (part.kind === 'inputRequest')
    return ['asks', `${part.request.message ?? 'a form'} (${part.response ?? 'open'})`]
  if (part.kind === 'error') return ['error', part.error.message]
  return [kind, '']
}

/** Returns a text with a label. All lines after the first one are indented like the first. */
function line(who: string, what: string, { dim }: Style): string {
  const text = sanitize(what)
    .trimEnd()
    .replaceAll('\n', `\n${' '.repeat(11)}`)
  return `  ${dim(onOneLine(who).slice(0, 8).padEnd(8))} ${text}`
}

/** Returns an action as one line: its number or time, its origin, where it was, its type, and its most informative field. */
export function actionLine(
  lead: string,
  { origin, action, rejectionReason }: Envelope,
  where: string,
  style: Style,
): string {
  const who = origin ? onOneLine(origin.clientId).slice(0, 8) : 'host'
  const refused = rejectionReason === undefined ? '' : style.red(`refused: ${onOneLine(rejectionReason)}`)
  const words = [
    style.dim(lead),
    who.padEnd(8),
    ...(where === '' ? [] : [style.dim(where)]),
    style.cyan(onOneLine(action.type)),
    summaryOf(action),
    decided(action, style),
    refused,
  ]
  return words.filter(Boolean).join('  ')
}

/** Returns who decided, for an action that decides about a tool call; empty for other actions. */
function decided(action: Action, { dim }: Style): string {
  const member = deciding.get(action.type)
  const by = member && decisionOf(action, member)
  return by ? dim(`by ${deciderName(by)}`) : ''
}

const deciding: ReadonlyMap<string, Decided> = new Map([
  ['chat/toolCallReady', 'decidedBy'],
  ['chat/toolCallConfirmed', 'decidedBy'],
  ['chat/toolCallResultConfirmed', 'resultDecidedBy'],
])

/** Returns the most informative field of an action as text. */
function summaryOf(action: Action): string {
  const fields = new Map<string, unknown>(Object.entries(action))
  for (const key of informative) {
    const words = wordsIn(fields.get(key))
    if (words !== '') return words.length > 200 ? `${words.slice(0, 200)}…` : words
  }
  return ''
}

/** The keys of actions, the most informative first. */
const informative = [
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
  'usage',
  'toolCallId',
  'turnId',
  'chat',
]

function wordsIn(value: unknown): string {
  if (typeof value === 'string') return onOneLine(value)
  if (typeof value === 'boolean') return String(value)
  if (typeof value !== 'object' || value === null) return ''
  if (Array.isArray(value)) return value.map(wordsIn).filter(Boolean).join(', ')
  const fields = new Map<string, unknown>(Object.entries(value))
  const keys = ['pastTenseMessage', 'text', 'markdown', 'content', 'message', 'title', 'kind', 'type']
  const [first] = keys.map((key) => wordsIn(fields.get(key))).filter(Boolean)
  const members = Object.entries(value).map(([key, each]) => `${key} ${isScalar(each) ? String(each) : '…'}`)
  return first ?? onOneLine(members.join(', '))
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null
}
